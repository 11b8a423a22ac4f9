"""The lookup of secrets in stores, in the order of the stores and once for each secret."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from pegboard.config import HostConfig
from pegboard.errors import AuthorizationRequiredError, ToolDefinitionError
from pegboard.errors.definition import attempt
from pegboard.plugin.origin import Origin
from pegboard.plugin.secrets import SecretStore, WritableSecretStore
from pegboard.secrets.redaction import Redactor

if TYPE_CHECKING:
    from pegboard.types.authorization import ToolAuthorization

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
        reserved: Collection[str],
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
        """Return advice on setting a secret, such as "set it in the environment or with `pegboard secret set KEY`".

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


# --- The secrets and tokens that each toolkit may receive (`[host.toolkits.NAME] secrets`, `providers`).

GrantKind = Literal["secrets", "providers"]
"""The key that limits a toolkit: names of secrets, or names of providers whose tokens it may receive."""


def granted(config: HostConfig, owner: Origin | str, kind: GrantKind) -> tuple[str, ...] | None:
    """Return the names and globs that a plugin, or the toolkit that a definition names, may receive.

    None means no limit. Only toolkits have limits.
    """
    toolkit = owner if isinstance(owner, str) else owner.name if owner.kind == "toolkit" else ""
    rights = config.host.toolkits.get(toolkit)
    return None if rights is None else rights.secrets if kind == "secrets" else rights.providers


def is_granted(config: HostConfig, owner: Origin | str, name: str, kind: GrantKind = "secrets") -> bool:
    """Return True if a plugin or toolkit may receive a secret, or the token of a provider."""
    patterns = granted(config, owner, kind)
    return patterns is None or any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


def check_token_grant(config: HostConfig, owner: Origin, required: ToolAuthorization) -> None:
    """Check that a plugin or toolkit may receive a token.

    Raises:
        AuthorizationRequiredError: it may not.
    """
    if not is_granted(config, owner, required.name, "providers"):
        hint = f"[host.toolkits.{owner.name}] providers does not grant it"
        raise AuthorizationRequiredError(required.name, scopes=required.scopes, hint=hint, developer_message=hint)


def refusal(config: HostConfig, owner: Origin | str, what: str, kind: GrantKind) -> str:
    """Return the reason why a plugin or toolkit may not receive something, with the setting to change."""
    key = ("host", "toolkits", owner if isinstance(owner, str) else owner.name, kind)
    return (
        f"it requires {what}, which [{'.'.join(key[:-1])}] {kind} ({config.source(key)}) does not grant; add it there"
    )
