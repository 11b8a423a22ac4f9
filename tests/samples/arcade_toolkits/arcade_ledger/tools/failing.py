from typing import Annotated, Literal

from arcade_mcp_server import tool


@tool(name="RaiseError")
def fail(
    kind: Annotated[Literal["retry", "context", "fatal", "plain", "upstream", "rate"], "The kind of the error"],
) -> Annotated[bool, "Nothing"]:
    """Fail."""
    from arcade_ledger.tools.books import entries
    from arcade_mcp_server import exceptions

    if kind == "retry":
        raise exceptions.RetryableToolError(
            "Try again", developer_message="busy", additional_prompt_content=f"{fail.__tool_name__} may work later",
            retry_after_ms=500,
        )  # fmt: skip
    if kind == "context":
        raise exceptions.ContextRequiredToolError("Which ledger?", additional_prompt_content="A or B")
    if kind == "fatal":
        raise exceptions.FatalToolError("The ledger is gone")
    if kind == "plain":
        raise exceptions.ToolExecutionError(f"No entries in {entries.__name__}")
    if kind == "upstream":
        raise exceptions.UpstreamError("The bank refuses", status_code=403)
    raise exceptions.UpstreamRateLimitError("Slow down", retry_after_ms=60_000)
