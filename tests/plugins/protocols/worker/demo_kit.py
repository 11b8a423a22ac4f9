"""The toolkit of the recorded responses."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import NotRequired, TypedDict

from pegboard import (
    Behavior,
    Classification,
    Context,
    ContextRequiredToolError,
    ErrorKind,
    NetworkTransportError,
    RetryableToolError,
    Toolkit,
    ToolMetadata,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard_plugins.auth.auth_providers import Google, OAuth2

kit = Toolkit("demo_kit", version="1.2.3", description="Demo instr")


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Inner(TypedDict):
    city: Annotated[str, Field(description="City name.")]
    zip: NotRequired[str]


class Outer(TypedDict, total=False):
    name: Annotated[str, Field(description="Full name.")]
    inner: Inner
    tags: list[str]
    items: list[Inner]
    maybe: int | None


class Nested(BaseModel):
    z: bool = True


class Model(BaseModel):
    a: int
    b: str = "x"
    c: float | None = None
    nested: Nested | None = None


@kit.tool
def add(a: Annotated[int, "first"], b: Annotated[int, "second"] = 0) -> Annotated[int, Field(description="The sum")]:
    """Add two ints."""
    return a + b


@kit.tool
def all_params(
    s: Annotated[str, "a string"],
    f: Annotated[float, "a float"],
    flag: Annotated[bool, "a bool"],
    lst: Annotated[list[str], "list of str"],
    d: Annotated[dict[str, Any], "free dict"],
    lit: Annotated[Literal["x", "y"], "literal"],
    color: Annotated[Color, "enum"],
    colors: Annotated[list[Color], "enum list"],
    td: Annotated[Outer, "typed dict"],
    tds: Annotated[list[Inner], "list of typed dicts"],
    pm: Annotated[Model, "pydantic model"],
    opt: Annotated[str | None, "optional str"] = None,
    opt2: Annotated[str | None, "optional new style"] = None,
    bounded: Annotated[int, "bounded", Field(ge=1, le=10)] = 5,
) -> Annotated[dict[str, Any], Field(description="echo")]:
    """All parameter types."""
    return {"bounded": bounded}


@kit.tool
def ret_list() -> list[str]:
    """Return list."""
    return ["a"]


@kit.tool
def ret_dict() -> dict[str, Any]:
    """Return dict."""
    return {"k": 1, "n": None}


@kit.tool
def ret_typeddict() -> Annotated[Outer, Field(description="outer out")]:
    """Return TypedDict."""
    return {"name": "n", "inner": {"city": "c"}}


@kit.tool
def ret_list_td() -> list[Inner]:
    """Return list of TypedDict."""
    return []


@kit.tool
def ret_pydantic() -> Model:
    """Return pydantic."""
    return Model(a=1)


@kit.tool
def ret_optional(give: Annotated[bool, "give"]) -> Annotated[str | None, Field()]:
    """Return optional."""
    return "given" if give else None


@kit.tool
def ret_bool() -> bool:
    """Return bool."""
    return False


@kit.tool
def ret_none() -> None:
    """Return nothing."""


@kit.tool
def ret_wrong_type() -> int:
    """Return a wrong type."""
    return "no int"  # type: ignore[return-value]  # that is the point


@kit.tool(requires_auth=Google(scopes=["https://www.googleapis.com/auth/gmail.readonly"]))
def needs_auth(context: Context) -> str:
    """Needs auth."""
    return f"token={context.get_auth_token_or_empty()}"


@kit.tool(
    requires_auth=OAuth2(id="my-custom-oauth", scopes=["a", "b"]), requires_metadata=["client_id", "coordinator_url"]
)
def needs_custom_auth(context: Context) -> dict[str, Any]:
    """Needs custom auth + metadata."""
    return {"client": context.get_metadata("client_id"), "user": context.user_id}


@kit.tool(requires_secrets=["MY_SECRET"])
def needs_secret(context: Context) -> str:
    """Needs secret."""
    return f"secret={context.get_secret('my_secret')}"


@kit.tool
def raise_err(which: Annotated[str, "which"]) -> str:
    """Raise errors."""
    raise {
        "retry": RetryableToolError("try again", "dev", "apc", 500, {"x": 1}),
        "context": ContextRequiredToolError("which John?", "John A or B", "dev"),
        "up429": UpstreamError("upstream msg", "dev up", status_code=429, extra={"service": "svc"}),
        "rate": UpstreamRateLimitError("slow", 60000),
        "net": NetworkTransportError("timed out", "d", kind=ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT),
        "unhandled": ValueError("secret pw=hunter2"),
    }[which]


DELETES = Behavior(["delete"], read_only=False, destructive=True, idempotent=True, open_world=True)


@kit.tool(metadata=ToolMetadata(Classification(["email"]), DELETES, {"idp": "x"}))
def with_metadata() -> str:
    """Has metadata."""
    return ""


@kit.tool(deprecated="use add")
def old_add(a: Annotated[int, "a"]) -> int:
    """Old add."""
    return a


@kit.tool(name="custom_name", description="Custom desc")
def other(param_x: Annotated[str, "described"]) -> str:
    """Not this."""
    return param_x


@kit.tool
async def talk(context: Context) -> str:
    """Say things while it runs."""
    context.log.debug("looking")
    context.log.critical({"found": 1})
    context.progress.report(1, total=2, message="half")
    return str(context.user_id)


@kit.tool
async def ask(context: Context) -> dict[str, Any]:
    """Elicit."""
    return {"said": (await context.ui.elicit("Who?", str)).content}


@kit.resource("demo://text", mime_type="text/plain")
def text() -> str:
    """A text."""
    return "read"


@kit.resource("demo://data")
def data() -> bytes:
    """Some bytes."""
    return b"\x00\xff"
