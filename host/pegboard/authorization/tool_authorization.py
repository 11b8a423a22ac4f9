"""What tools require of their callers and of providers of tokens, checked and described. It asks nobody for a token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pegboard.errors import ToolDefinitionError
from pegboard.plugin.definitions import ToolDefinition
from pegboard.routing.bearer import is_scope
from pegboard.types.authorization import ToolAuthorization

REQUIREMENTS = "pegboard/requirements"
"""The key of a tool's `_meta` under which clients find what it requires."""


def check_authorization(definition: ToolDefinition) -> None:
    """Find what is wrong with `requires_auth` and `scopes`, whatever plugins run.

    Raises:
        ToolDefinitionError: it is no provider, or a scope is none.
    """
    required: Any = definition.requires_auth
    if isinstance(required, type) and issubclass(required, ToolAuthorization):
        name = required.__name__
        raise ToolDefinitionError(f"its requires_auth is the class {name}; give an object of it, such as {name}()")
    if required is not None:
        if not _is_of_provider(required):
            kind = f"{required!r}, not an object of a provider's class, such as GitHub(scopes=[...])"
            raise ToolDefinitionError(f"its requires_auth is {kind}")
        whose = f"its requires_auth, {type(required).__name__},"
        if not isinstance(required.id, str | None) or not required.name.strip():
            raise ToolDefinitionError(f"{whose} has no id; give it the one under which its tokens are kept")
        _check_scopes(required.scopes, f"{whose} has")
    _check_scopes(definition.scopes, "it has")


def _is_of_provider(required: object) -> bool:
    return isinstance(required, ToolAuthorization) and hasattr(required, "provider")


def _check_scopes(scopes: Iterable[object], whose: str) -> None:
    for scope in scopes:
        if not is_scope(scope):
            advice = "; write each by itself" if isinstance(scope, str) and len(scope.split()) > 1 else ""
            raise ToolDefinitionError(f"{whose} the scope {scope!r}, which is none (RFC 6749){advice}")


def described_requirements(definition: ToolDefinition) -> dict[str, Any]:
    """What clients are told of a tool's requirements, for its `_meta`: nothing of the operator's secrets."""
    told: dict[str, Any] = {}
    if (required := definition.requires_auth) is not None:
        whose = {"provider": required.provider_id, "type": required.provider_type, "id": required.id}
        told["authorization"] = {name: value for name, value in whose.items() if value is not None}
        told["authorization"]["scopes"] = list(required.scopes)
    if definition.scopes:
        told["scopes"] = list(definition.scopes)
    return {REQUIREMENTS: told} if told else {}
