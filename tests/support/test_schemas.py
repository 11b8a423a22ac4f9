"""The official schemas as we load them: whole, mended where their generator erred, and with nothing new to mend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.schemas import FAULTS, REVISIONS, definitions, official

MEANT_AS_INTEGERS = {
    "code",
    "maxItems",
    "maxLength",
    "maxTokens",
    "minItems",
    "minLength",
    "pollInterval",
    "size",
    "total",
    "ttl",
    "ttlMs",
    "ProgressToken",
    "RequestId",
}
"""The members that are integers: counts, sizes, codes, milliseconds, and ids."""


def integers(node: Any, owner: str) -> Iterator[str]:
    """The member or definition nearest to each `integer` of a schema."""
    if isinstance(node, dict):
        kind = node.get("type")
        if kind == "integer" or (isinstance(kind, list) and "integer" in kind):
            yield owner
        for key, value in node.items():
            named = key not in {"properties", "anyOf", "allOf", "items", "additionalProperties", "params"}
            yield from integers(value, key if named else owner)
    elif isinstance(node, list):
        for value in node:
            yield from integers(value, owner)


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_integer_is_left_that_should_be_a_number(revision: str) -> None:
    assert set(integers(definitions(revision), "")) <= MEANT_AS_INTEGERS


def test_the_generator_did_err_where_we_say_so() -> None:
    wrong = {
        (revision, owner)
        for revision in REVISIONS
        for name, node in next(iter(v for k, v in official(revision).items() if k != "$schema")).items()
        for owner in integers(node, name)
        if owner not in MEANT_AS_INTEGERS
    }
    assert {revision for revision, _ in wrong} == {fault.revision for fault in FAULTS}
