"""The check that a call has the secrets, tokens and metadata that its function requires."""

from __future__ import annotations

from pegboard.context.requirements import Requirements, missing_metadata, missing_secrets
from pegboard.errors import ContextRequiredToolError, FatalToolError, InsufficientScopeError
from pegboard.routing.bearer import PROOF
from pegboard.types.calls import Call


def check_requirements(required: Requirements, call: Call) -> None:
    """Check that a call has the secrets, tokens and metadata that a function requires.

    Raises:
        ContextRequiredToolError: the caller is anonymous, and the function uses secrets, tokens or metadata.
        InsufficientScopeError: the caller's token lacks a scope.
        FatalToolError: a secret is not set, or metadata is unknown.
    """
    supplied = call.supplied
    if not call.caller.is_known and required.is_guarded:
        raise ContextRequiredToolError(
            "This tool uses secrets, tokens or metadata of the operator, and the server does not know the caller. "
            f"Its operator can {PROOF}.",
            "Do not try again before this has changed. Tell the user that the operator of this server must change it.",
        )
    if not call.allows(required.scopes):
        raise InsufficientScopeError(required.scopes)
    if supplied is not None and supplied.lenient:
        return
    if missing := sorted(missing_secrets(required, call.supplied)):
        raise FatalToolError(
            f"This tool needs a secret that is not set on the server: {', '.join(missing)}. Ask its operator to set it."
        )
    if missing := missing_metadata(required, call):
        keys = ", ".join(missing)
        raise FatalToolError(
            f"This tool needs metadata that is not set on the server: {keys}. Ask its operator to set it.",
            f"the tool requires metadata that has no value: {keys}; set {_ways(missing)}",
        )


def _ways(missing: list[str]) -> str:
    """Return the names of the settings for missing metadata."""
    ways = ["`[host] user`"] if "user_id" in missing else []
    if missing != ["user_id"]:
        ways.append("`[host] metadata`")
    return " and ".join(ways)
