"""Writes docs/contracts.md: the contract of each kind of plugin, rendered from the code, with a link to an example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType
from typing import NamedTuple

from pegboard.loading.plugin_facts import FACTS_FILE
from pegboard.types import ANONYMOUS, EMPTY, CallNext, Outcome

PACKAGES = ("pegboard", "pegboard.plugin", "pegboard.types")
USUAL_PACKAGE = "pegboard.plugin"


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
    Kind("Session store", "register_stores", "Store SessionStore", "SessionStoreContract", "session_store"),
    Kind("Event store", "register_stores", "EventStore", "EventStoreContract", "event_store"),
    Kind(
        "Command",
        "",
        "CommandContext HostPlan RequestedSecret CommandDescription ArgumentDescription Finding",
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
_SHOWN = {name for kind in KINDS for name in kind.names.split()}
_DEFAULTS = {repr(ANONYMOUS): "ANONYMOUS", repr(EMPTY): "EMPTY"}
"""Names of defaults."""

_ALIASES = {inspect.formatannotation(CallNext): "CallNext", inspect.formatannotation(Outcome): "Outcome"}
"""Names of types that annotations spell out."""

_INTRODUCTION = """\
# Plugin contracts

<!-- Written by `python -m tools.reference` from the code; edit the docstrings. -->

A plugin is a class derived from `Plugin`, or a module with hook implementations, named by an entry point in the group
`pegboard.plugins`. It contributes the objects on this page by [hooks](hooks.md). The classes are in `pegboard.plugin`,
unless a line names another package. The tests run the linked examples. `pegboard new plugin NAME --kind KIND` [writes a
plugin](new-project.md#plugins) from an example. [Contract tests](testing.md#contracts) check your own objects.
"""


def contracts_page() -> str:
    """Return the page."""
    parts = [_INTRODUCTION]
    for kind in KINDS:
        facts = f"; [`{FACTS_FILE}`](examples/plugins/{FACTS_FILE})" if kind.contract == "CommandContract" else ""
        parts += [
            f"## {kind.title}\n",
            *([f"Hook: [`{kind.hook}`](hooks.md#{kind.hook}).\n"] if kind.hook else []),
            *(["Declared in [`pegboard_plugin.toml`](plugin-facts.md).\n"] if facts else []),
            *([f"Contract test: `pegboard_testing.{kind.contract}`.\n"] if kind.contract else []),
            f"Example: [{kind.example}.py](examples/plugins/{kind.example}.py){facts}\n",
        ]
        for name in kind.names.split():
            parts += rendered(name)
    return "\n".join(parts)


def rendered(name: str) -> Iterator[str]:
    """Yield the description of a public class: its docstring, then its methods, without those of a shown base."""
    module = next(package for package in PACKAGES if name in import_module(package).__all__)
    cls = getattr(import_module(module), name)
    yield f"### {name}\n"
    if module != USUAL_PACKAGE:
        yield f"`from {module} import {name}`\n"
    yield _markdown(inspect.getdoc(cls) or "")
    shown = {base for base in cls.__mro__[1:] if base.__name__ in _SHOWN}
    for key, member in vars(cls).items():
        if key.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        if not any(key in vars(base) for base in shown):
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
    if isinstance(annotation, str):
        return annotation.replace("'", "")
    text = inspect.formatannotation(annotation)
    for spelled, name in _ALIASES.items():
        text = text.replace(spelled, name)
    return re.sub(r"\b(?:pegboard|collections)(?:\.[a-z_]+)*\.", "", text).replace("'", "")


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
