"""The lookup of secrets in stores, in the order of the stores and once for each secret."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from pegboard.errors import ToolDefinitionError
from pegboard.errors.attempts import attempt
from pegboard.plugin.origin import Origin
from pegboard.plugin.secrets import SecretStore, WritableSecretStore
from pegboard.secrets.redaction import Redactor

RESERVED_PREFIXES = ("MCP_", "PEGBOARD_", "_")
"""The prefixes of secret names that are reserved for the host. Tools cannot require them."""


class SecretStores:
    """The secret stores of one host.

    Args:
        stores: the stores in the order of lookup, with their plugins.
        settings: the validated settings of all plugins, whose fields may be secrets by type.
        report: called with a plugin and the problem of its store.
        redactor: masks every secret that is found.
        reserved: the names of secrets that only plugins may read, besides those with a reserved prefix.

    Attributes:
        stores: the stores in the order of lookup, with their plugins.
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
        self.stores = list(stores)
        self._report = report
        self._known: dict[str, str | None] = {}
        self._redactor = redactor
        redactor.learn(lambda: [value for model in settings for value in _hidden(model)])

    def is_reserved(self, name: str) -> bool:
        """Return True if tools are not allowed to have the secret with this name. Case is ignored."""
        return name.upper() in self._reserved or name.upper().startswith(RESERVED_PREFIXES)

    def get(self, name: str) -> str | None:
        """Return a secret from the first store that has it, or None. A blank value counts as missing.

        Raises:
            ToolDefinitionError: the name is reserved for secrets of the host.
        """
        if self.is_reserved(name):
            raise ToolDefinitionError(
                f"it requires the secret {name}, which is reserved for the host: give the secret another name"
            )
        if name not in self._known:
            self._redactor.spare(name)
            value = self._known[name] = next(
                (secret for secret in self._kept(name) if secret and not secret.isspace()), None
            )
            if value is not None:
                self._redactor.add(value)
        return self._known[name]

    @property
    def known(self) -> dict[str, str]:
        """Return the values of declared secrets, by name."""
        return {name: value for name, value in self._known.items() if value is not None}

    def _kept(self, name: str) -> Iterator[str | None]:
        for origin, store in self.stores:
            try:
                value: object = attempt(store.get, name)
            except ToolDefinitionError as error:
                self._report(origin, f"the secret store {store.name!r} failed to look up {name}: {error}")
                continue
            if value is None or isinstance(value, str):
                yield value
            else:
                self._report(origin, f"the secret store {store.name!r} must return a string for {name}")

    def missing(self, name: str) -> str:
        """Return a message for the operator about a secret that is not set, with the ways to set it."""
        advice = self.advice(name, "it")
        return f"the secret {name} is not set{':' if self.stores else ', and'} {advice}"

    def advice(self, name: str, what: str, options: Sequence[str] = ()) -> str:
        """Return how to set a secret, such as "set it in the environment or with `pegboard secret set KEY`".

        Args:
            name: the secret.
            what: the secret in the sentence.
            options: further arguments of the command that sets it.
        """
        if not self.stores:
            return "no secret store runs: enable one"
        ways = [_way(store, name) for _, store in self.stores]
        if any(isinstance(store, WritableSecretStore) for _, store in self.stores):
            ways.append(f"with `{shlex.join(['pegboard', 'secret', 'set', name, *options])}`")
        return f"set {what} " + " or ".join([part for part in (", ".join(ways[:-1]), ways[-1]) if part])


def _hidden(settings: Any) -> Iterator[str]:
    """Yield the secret values in settings: the fields of type `pydantic.SecretStr`."""
    if hasattr(settings, "get_secret_value"):
        yield str(settings.get_secret_value())
    elif hasattr(type(settings), "__pydantic_fields__"):
        for value in vars(settings).values():
            yield from _hidden(value)
    elif isinstance(settings, dict | list | tuple | set | frozenset):
        for value in settings.values() if isinstance(settings, dict) else settings:
            yield from _hidden(value)


def _way(store: SecretStore, name: str) -> str:
    try:
        return str(attempt(store.hint, name))
    except ToolDefinitionError:
        return f"in {store.name}"
