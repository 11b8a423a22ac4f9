"""Writes docs/contracts.md: the contract of each kind of plugin, rendered from the code, with a tested example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

from pegboard.loading.plugin_facts import FACTS_FILE
from pegboard.types import ANONYMOUS, EMPTY

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples" / "plugins"
PACKAGES = ("pegboard", "pegboard.plugin", "pegboard.types")


class Kind(NamedTuple):
    """One kind of plugin.

    Attributes:
        title: the heading of its section.
        hook: the hook that contributes its objects, "" without one.
        names: the public classes of its contract.
        contract: the class of its contract tests, "" without one.
        example: the file of the example.
    """

    title: str
    hook: str
    names: str
    contract: str
    example: str


KINDS = (
    Kind(
        title="Plugin and settings",
        hook="",
        names="Plugin PluginContext PluginConfig WidensAccess StoreName",
        contract="",
        example="secret_store",
    ),
    Kind("Transport", "register_transports", "Transport Connection TransportContext", "TransportContract", "transport"),
    Kind("Protocol", "register_protocols", "StreamProtocol ProtocolContext", "", "protocol"),
    Kind("Method", "register_methods", "Extension Method NotificationHandler Topic Subscription", "", "method"),
    Kind("Route", "register_routes", "Route Request Response EventStream ServerSentEvent", "RouteContract", "route"),
    Kind("Authenticator", "register_authenticators", "Authenticator Caller", "AuthenticatorContract", "authenticator"),
    Kind(
        "Session store", "register_stores", "Store SessionStore SessionRecord", "SessionStoreContract", "session_store"
    ),
    Kind("Event store", "register_stores", "EventStore", "EventStoreContract", "event_store"),
    Kind(
        "Command",
        "",
        "CommandContext HostPlan CommandDescription ArgumentDescription Finding",
        "CommandContract",
        "command",
    ),
    Kind("Middleware", "register_middleware", "Middleware Gate", "MiddlewareContract", "middleware"),
    Kind("Observer", "register_telemetry", "Observer Gauge SessionInfo SessionRecorder", "", "observer"),
    Kind(
        "Definition check",
        "register_definition_checks",
        "DefinitionCheck CheckedDefinition",
        "",
        "definition_check",
    ),
    Kind("Error adapter", "register_error_adapters", "ErrorAdapter", "ErrorAdapterContract", "error_adapter"),
    Kind(
        "Secret store",
        "register_secret_stores",
        "SecretStore WritableSecretStore",
        "SecretStoreContract",
        "secret_store",
    ),
    Kind(
        "Token source and auth provider",
        "register_token_sources",
        "TokenSource TokenRequest AuthProvider ToolAuthorization",
        "TokenSourceContract",
        "token_source",
    ),
)
_DEFAULTS = {repr(ANONYMOUS): "ANONYMOUS", repr(EMPTY): "EMPTY"}
"""Names of defaults."""

_INTRODUCTION = """\
# Plugin contracts

<!-- Written by `python -m tools.reference` from the code; edit the docstrings and docs/examples/plugins. -->

A plugin is a class derived from `Plugin`, or a module with hook implementations, named by an entry point in the group
`pegboard.plugins`. It contributes objects by [hooks](hooks.md). This page describes the objects of each kind. Each
section ends with an example, which the tests run. [Contract tests](testing.md#contracts) check your own objects.
`pegboard new plugin NAME --kind KIND` [writes a plugin](new-project.md#plugins) from the example, with its tests.
"""


def contracts_page() -> str:
    """Return the page."""
    parts = [_INTRODUCTION]
    parts += [f"- [{kind.title}](#{kind.title.lower().replace(' ', '-')})" for kind in KINDS]
    parts.append("")
    for kind in KINDS:
        tests = f" Contract test: `pegboard_testing.{kind.contract}`." if kind.contract else ""
        parts.append(f"## {kind.title}\n")
        if kind.hook:
            parts.append(f"Hook: [`{kind.hook}`](hooks.md#{kind.hook}).{tests}\n")
        elif kind.contract:
            parts.append(f"Declared in [`pegboard_plugin.toml`](plugin-facts.md).{tests}\n")
        for name in kind.names.split():
            parts += rendered(name)
        text = (EXAMPLES / f"{kind.example}.py").read_text("utf-8")
        link = f"[examples/plugins/{kind.example}.py](examples/plugins/{kind.example}.py)"
        parts += [f"Example: {link}\n", f"```python\n{text}```\n"]
        if kind.contract == "CommandContract":
            declared = (EXAMPLES / FACTS_FILE).read_text("utf-8")
            parts.append(f"```toml {FACTS_FILE}\n{declared}```\n")
    return "\n".join(parts)


def rendered(name: str) -> Iterator[str]:
    """Yield the description of a public class: its docstring, then its methods."""
    module = next(package for package in PACKAGES if name in import_module(package).__all__)
    cls = getattr(import_module(module), name)
    yield f"### {name}\n"
    yield f"`from {module} import {name}`\n"
    yield _markdown(inspect.getdoc(cls) or "")
    for key, member in vars(cls).items():
        if key.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        yield _method(key, member)


def _method(name: str, member: object) -> str:
    function = member.fget if isinstance(member, property) else member
    assert inspect.isfunction(function)
    signature = _signature(function)
    if isinstance(member, property):
        signature = signature.removeprefix("()")
    prefix = "async " if inspect.iscoroutinefunction(function) else ""
    lines = _markdown(inspect.getdoc(function) or "").splitlines()
    body = "\n".join(f"  {line}".rstrip() for line in lines)
    return f"- `{prefix}{name}{signature}`\n\n{body}\n"


def _signature(function: FunctionType) -> str:
    """Return the parameters and the result of a method, as an author writes them."""
    signature = inspect.signature(function)
    parts = []
    for name, parameter in signature.parameters.items():
        if name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = (
            ""
            if parameter.default is parameter.empty
            else f" = {_DEFAULTS.get(repr(parameter.default), repr(parameter.default))}"
        )
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        parts.append(f"{star}{name}: {_annotation(parameter.annotation)}{default}")
    return f"({', '.join(parts)}) -> {_annotation(signature.return_annotation)}"


def _annotation(annotation: object) -> str:
    return (annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)).replace("'", "")


def _markdown(docstring: str) -> str:
    """Return a docstring as Markdown: the sections Args, Attributes, Returns and Raises become lists."""
    text, *sections = re.split(r"^(Args|Attributes|Returns|Raises):\n", docstring, flags=re.M)
    parts = [text.strip(), ""]
    for title, section in zip(sections[::2], sections[1::2], strict=True):
        entries = re.sub(r"\n {8,}", " ", inspect.cleandoc(f"\n{section}"))
        lines = [re.sub(r"\s+", " ", line) for line in re.split(r"\n(?! )", entries) if line.strip()]
        if title == "Returns":
            parts += [f"{title}: {' '.join(lines)}", ""]
        else:
            named = [re.sub(r"^([\w., ]+?): ", r"`\1`: ", line) for line in lines]
            parts += [f"{title}:", "", *(f"- {line}" for line in named), ""]
    return "\n".join(parts)
