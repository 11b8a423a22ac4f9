"""A toolkit that shows its secrets in every error and log, and returns them in one result."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from threading import Thread
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import SecretStr

from pegboard import Context, PluginConfig, ResourceError, RetryableToolError, ToolExecutionError, Toolkit
from pegboard.plugin import ProtocolError

SECRETS = ["CNRY_ENV", "CNRY_DOTENV", "CNRY_FILE", "CNRY_DIR", "CNRY_RING"]

log = logging.getLogger("leaky")


class LeakyConfig(PluginConfig):
    password: str
    token: str
    sealed: SecretStr
    address: str


kit = Toolkit("leaky", config=LeakyConfig)


def everything(context: Context) -> str:
    """Return every secret, one after another."""
    config = context.config
    sealed = config.sealed.get_secret_value()
    return " ".join([*context.secrets.values(), config.password, config.token, sealed, config.address])


def written(context: Context) -> dict[str, str]:
    """Return the secrets as libraries write them."""
    each = [*context.secrets.values(), context.config.password]
    return {
        "quoted": " ".join(quote(one, safe="") for one in each),
        "basic": " ".join(base64.b64encode(f"me:{one}".encode()).decode() for one in each),
        "repr": repr(each),
    }


class Worded(ToolExecutionError):
    def __init__(self, text: bytes) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text.decode()


def tool(function: Any, name: str | None = None) -> Any:
    """Add a tool that declares all secrets."""
    return kit.tool(name=name, description="Show secrets.", requires_secrets=SECRETS)(function)


def raising(make: Callable[[str, dict[str, str]], BaseException]) -> Callable[..., None]:
    def fail(context: Context) -> None:
        raise make(everything(context), written(context)) from KeyError(everything(context))

    return fail


ERRORS: dict[str, Callable[[str, dict[str, str]], BaseException]] = {
    "accident": lambda plain, forms: ValueError(f"{plain} because of {forms}"),
    "purpose": lambda plain, forms: RetryableToolError(plain, plain, plain, 5, {"list": [plain], plain: forms}),
    "worded": lambda plain, forms: Worded(plain.encode()),
    "protocol": lambda plain, forms: ProtocolError(4711, plain, {"data": plain}),
    "leaving": lambda plain, forms: SystemExit(plain),
}
for name, make in ERRORS.items():
    tool(raising(make), name)


@tool
def status(context: Context) -> str:
    request = httpx.Request("GET", "http://127.0.0.1:1/", params={"key": context.get_secret("CNRY_ENV")})
    httpx.Response(500, text=everything(context), request=request).raise_for_status()
    return "never"


@tool
def misfit(context: Context) -> int:
    return everything(context)  # type: ignore[return-value]


@tool
def logged(context: Context) -> str:
    log.error("all of it: %s", everything(context), extra={"more": everything(context)})
    log.debug("%s", written(context))
    context.log.error(everything(context), more=[written(context)])
    context.progress.report(1, message=everything(context))
    try:
        raise ValueError(everything(context))
    except ValueError:
        log.exception("it failed")
    return "logged"


@tool
def threaded(context: Context) -> str:
    def fail(text: str) -> None:
        raise ValueError(text)

    thread = Thread(target=fail, args=(everything(context),))
    thread.start()
    thread.join()
    return "threaded"


@tool
def returned(context: Context) -> str:
    return everything(context)


@kit.resource("leaky://{path}")
def read(path: str, context: Context) -> str:
    """Fail."""
    raise ResourceError(everything(context)) if path == "purpose" else ValueError(everything(context))


@kit.prompt
def ask(context: Context) -> str:
    """Fail."""
    raise ValueError(everything(context))


def unsure(config: LeakyConfig) -> bool:
    raise ValueError(f"cannot decide with {config.password} and {config.token}")


@kit.tool(enabled=unsure)
def undecided() -> None:
    """Fail when the host starts."""
