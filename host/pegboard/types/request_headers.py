"""Header fields for requests of transports whose server has none."""

from collections.abc import Iterable, Mapping

from multidict import CIMultiDict

from pegboard.types.http import Headers


def header_fields(fields: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Headers:
    """Return the header fields of a `Request`. Pairs may repeat a name."""
    return CIMultiDict(fields)
