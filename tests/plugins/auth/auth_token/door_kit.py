"""The toolkit `door`: tools for some callers, and one that elicits. A process under test finds it in a folder."""

from __future__ import annotations

from pegboard import Context, Toolkit

kit = Toolkit("door")


@kit.tool
def plain() -> str:
    """Require nothing."""
    return "plain"


@kit.tool(requires_secrets=["DOOR_SECRET"])
def secretive(context: Context) -> str:
    """Use a secret."""
    return f"{len(context.get_secret('DOOR_SECRET'))} characters"


@kit.tool(scopes=["work"])
def guarded() -> str:
    """Require a scope."""
    return "done"


@kit.tool
def who(context: Context) -> str:
    """Return the caller."""
    caller = context.auth_info
    return "nobody" if caller is None else f"{caller.subject} {sorted(caller.scopes)}"


@kit.tool
async def name(context: Context) -> str:
    """Greet the person by name."""
    answer = await context.ui.elicit("What is your name?", str)
    return f"Hello, {answer.content}"
