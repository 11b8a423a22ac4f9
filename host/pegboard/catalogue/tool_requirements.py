"""The requirements of a tool, with this host's values for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.authorization.providers import missing_token
from pegboard.config import HostConfig
from pegboard.context.requirements import NO_REQUIREMENTS, Requirements
from pegboard.errors import ToolDefinitionError
from pegboard.plugin.definitions import ToolDefinition
from pegboard.types.authorization import AuthProvider, ToolAuthorization, ToolRequirements

if TYPE_CHECKING:
    from pegboard.authorization.providers import MissingToken
    from pegboard.catalogue.binding import Binder


class BoundRequirements(NamedTuple):
    """The requirements of one tool.

    Attributes:
        declared: the requirements for lists; None for none.
        checked: the requirements that the host checks before each call, with its values.
        provider: the provider of the required token; None for none.
        missing_token: the required token if the host neither has it nor can obtain it.
    """

    declared: ToolRequirements | None = None
    checked: Requirements = NO_REQUIREMENTS
    provider: AuthProvider | None = None
    missing_token: MissingToken | None = None


NOTHING_REQUIRED = BoundRequirements()


def bound_requirements(definition: ToolDefinition, binder: Binder) -> BoundRequirements:
    """Return the requirements of a definition, with the values of the binder's host.

    Raises:
        ToolDefinitionError: no enabled plugin describes the provider of its token.
    """
    required, scopes = definition.requires_auth, definition.scopes
    if required is None and not (scopes or definition.requires_secrets or definition.requires_metadata):
        return NOTHING_REQUIRED
    declared = ToolRequirements(
        required,
        tuple(scopes),
        tuple(each_once(definition.requires_secrets)),
        tuple(each_once(map(str.lower, definition.requires_metadata))),
    )
    provider = token = None
    if required is not None:
        provider = binder.providers.find(required)
        token = missing_token(required, binder.token_sources, binder.secrets)
    secrets = {name: binder.secrets.get(name) for name in declared.secrets}
    hint, named = ("", "") if token is None else (token.hint, token.name)
    needs = each_once([*(name for name, value in secrets.items() if not value), *filter(None, [named])])
    metadata = _metadata(definition, binder.config)
    checked = Requirements(secrets, required, frozenset(scopes), metadata, hint, tuple(needs))
    return BoundRequirements(declared, checked, provider, token if named else None)


def _metadata(definition: ToolDefinition, config: HostConfig) -> Mapping[str, str | None]:
    """Return the host's values for the metadata that a tool requires. Keys are in lower case."""
    if not definition.requires_metadata:
        return {}
    metadata = {"user_id": config.host.user} | {key.lower(): value for key, value in config.host.metadata.items()}
    return {key: metadata.get(key) for key in map(str.lower, definition.requires_metadata)}


def each_once(names: Iterable[str]) -> list[str]:
    """Return the names without duplicates. Ignore case and keep the first spelling."""
    spelt: dict[str, str] = {}
    for name in names:
        spelt.setdefault(name.casefold(), name)
    return list(spelt.values())


# --- The authorization that a tool declares: its checks, and its description for clients.

REQUIREMENTS = "pegboard/requirements"
"""The key in a tool's `_meta` that describes its requirements."""
_SCOPE = r"[\x21\x23-\x5b\x5d-\x7e]+"
"""The name of one scope (RFC 6749, section 3.3)."""


def check_authorization(definition: ToolDefinition) -> None:
    """Check the types and scopes of `requires_auth` and `scopes`.

    Raises:
        ToolDefinitionError: the provider or a scope is invalid.
    """
    required: Any = definition.requires_auth
    if isinstance(required, type) and issubclass(required, ToolAuthorization):
        name = required.__name__
        raise ToolDefinitionError(f"its requires_auth is the class {name}: use an object, such as {name}()")
    if required is not None:
        if not _is_of_provider(required):
            kind = f"{required!r}, not an object of a provider's class, such as GitHub(scopes=[...])"
            raise ToolDefinitionError(f"its requires_auth is {kind}")
        whose = f"its requires_auth, {type(required).__name__},"
        if not isinstance(required.id, str | None) or not required.name.strip():
            raise ToolDefinitionError(f"{whose} has no id: set the id under which its tokens are stored")
        _check_scopes(required.scopes, f"{whose} has")
    _check_scopes(definition.scopes, "it has")


def _is_of_provider(required: object) -> bool:
    return isinstance(required, ToolAuthorization) and hasattr(required, "provider")


def _check_scopes(scopes: Iterable[object], whose: str) -> None:
    for scope in scopes:
        if not (isinstance(scope, str) and re.fullmatch(_SCOPE, scope)):
            raise ToolDefinitionError(f"{whose} the invalid scope {scope!r}: list scopes separately (RFC 6749)")


def described_requirements(definition: ToolDefinition) -> dict[str, Any]:
    """Return the description of a tool's requirements for its `_meta`, without the operator's secrets."""
    description: dict[str, Any] = {}
    if (required := definition.requires_auth) is not None:
        whose = {"provider": required.provider_id, "type": required.provider_type, "id": required.id}
        description["authorization"] = {name: value for name, value in whose.items() if value is not None}
        description["authorization"]["scopes"] = list(required.scopes)
    if definition.scopes:
        description["scopes"] = list(definition.scopes)
    return {REQUIREMENTS: description} if description else {}
