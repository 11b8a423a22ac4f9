"""The stores that secrets come from, asked in their order, once for each secret. What is done about a missing one it
does not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from pegboard.errors import ToolDefinitionError
from pegboard.errors.attempts import attempt
from pegboard.plugin.origin import Origin
from pegboard.plugin.secrets import SecretStore
from pegboard.secrets.redaction import Redactor

RESERVED_PREFIXES = ("MCP_", "PEGBOARD_", "_")
"""No tool gets a secret whose name begins with one of these."""


def is_reserved(name: str, reserved: Collection[str]) -> bool:
    """Return True if no tool may have the secret of this name, in any case.

    Args:
        name: the name.
        reserved: the names that plugins reserve, in capitals.
    """
    return name.upper() in reserved or name.upper().startswith(RESERVED_PREFIXES)


class SecretStores:
    """The stores of one host.

    Args:
        stores: the stores, in the order in which they are asked, with the plugins that brought them.
        settings: the validated settings of all plugins, in which fields may hold secrets by their types.
        report: told what went wrong, and with whose store.
        redactor: told what is a secret.
        reserved: the names of secrets that plugins keep for themselves.
    """

    def __init__(
        self,
        stores: Iterable[tuple[Origin, SecretStore]],
        settings: Sequence[Any],
        report: Callable[[Origin, str], None],
        redactor: Redactor,
        reserved: Collection[str] = (),
    ) -> None:
        self._reserved = reserved
        self._stores = list(stores)
        self._report = report
        self._known: dict[str, str | None] = {}
        self._redactor = redactor
        redactor.learn(lambda: [value for one in settings for value in _hidden(one)])

    def is_reserved(self, name: str) -> bool:
        """Return True if no tool may have the secret of this name."""
        return is_reserved(name, self._reserved)

    def get(self, name: str) -> str | None:
        """The first store's that has it, None when none does; an empty one, or one of blanks, is a missing one.

        Raises:
            ToolDefinitionError: the name is that of a secret of the host's own.
        """
        if self.is_reserved(name):
            raise ToolDefinitionError(
                f"it requires the secret {name}, which is kept for the host itself; give the secret another name"
            )
        if name not in self._known:
            self._redactor.spare(name)
            value = self._known[name] = next((one for one in self._kept(name) if one and not one.isspace()), None)
            if value is not None:
                self._redactor.add(value)
        return self._known[name]

    @property
    def known(self) -> dict[str, str]:
        """The values of declared secrets, by name."""
        return {name: value for name, value in self._known.items() if value is not None}

    def _kept(self, name: str) -> Iterator[str | None]:
        for origin, store in self._stores:
            try:
                value: object = attempt(store.get, name)
            except ToolDefinitionError as error:
                self._report(origin, f"the secret store {store.name!r} failed when asked for {name}: {error}")
                continue
            if value is None or isinstance(value, str):
                yield value
            else:
                self._report(origin, f"the secret store {store.name!r} gave no text for {name}")

    def missing(self, name: str) -> str:
        """What the operator is told about a secret that is not set: the ways to set it, by the stores that run."""
        ways = [_way(store, name) for _, store in self._stores]
        if not ways:
            return f"the secret {name} is not set, and no store of secrets runs that could have it"
        last = f" or {ways[-1]}" if ways[1:] else ways[-1]
        return f"the secret {name} is not set; set it {', '.join(ways[:-1])}{last}"


def _hidden(settings: Any) -> Iterator[str]:
    """What settings hold as secrets by their types (`pydantic.SecretStr`)."""
    if hasattr(settings, "get_secret_value"):
        yield str(settings.get_secret_value())
    elif isinstance(settings, BaseModel):
        for value in vars(settings).values():
            yield from _hidden(value)
    elif isinstance(settings, dict | list | tuple | set | frozenset):
        for value in settings.values() if isinstance(settings, dict) else settings:
            yield from _hidden(value)


def _way(store: SecretStore, name: str) -> str:
    hint = getattr(store, "hint", None)
    try:
        return str(attempt(hint, name)) if callable(hint) else f"in {store.name}"
    except ToolDefinitionError:
        return f"in {store.name}"
