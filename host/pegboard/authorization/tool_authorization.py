"""Checks the authorization that a tool declares, and describes it to clients."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pegboard.errors import ToolDefinitionError
from pegboard.plugin.definitions import ToolDefinition
from pegboard.types.authorization import ToolAuthorization

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
