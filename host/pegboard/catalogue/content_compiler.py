"""The compiler of resources, templates and prompts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pegboard.calls.completion import BoundCompleter
from pegboard.calls.served_item import Function
from pegboard.catalogue.raw_definitions import raw_arguments, raw_meta, raw_signature
from pegboard.catalogue.shown_texts import check_schema_texts
from pegboard.catalogue.tool_compiler import described, description_of, runnable, schema_json, with_tags
from pegboard.errors import ToolDefinitionError
from pegboard.messages.hints import subschemas_at
from pegboard.names import check_wire_name
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition
from pegboard.schemas.functions import context_parameter
from pegboard.schemas.signature import Signature, compile_signature
from pegboard.types.catalogue import Prompt, PromptArgument, Resource, ResourceTemplate
from pegboard.uris.matching import Matcher
from pegboard.uris.template import UriTemplateError

_URI = r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+"
_VISIBLE = "[!-~]+"
"""Templates of other servers may lack a scheme."""


Compiled: TypeAlias = tuple[Any, Function, Signature, dict[str, Any]]
"""The definition for clients, the function, its signature, and further fields of the `ServedItem`."""


def compile_resource(definition: ResourceDefinition, name: str, owner: str) -> Compiled:
    """Compile a resource or template of a toolkit under its own name.

    Raises:
        ToolDefinitionError: the definition cannot be served.
    """
    uri = definition.uri
    raw, meta, uri_parameter = definition.raw, definition.meta, None
    is_template = "{" in uri or "}" in uri
    if not re.fullmatch(_VISIBLE if is_template and raw is not None else _URI, str(uri)):
        raise ToolDefinitionError("its URI is not absolute, such as docs://readme (RFC 3986)")
    matcher = _matcher(uri, needs_scheme=raw is None) if is_template else None
    names = matcher.names if matcher is not None else ()
    if raw is None:
        signature, description = compile_signature(definition.function, with_result=False), description_of(definition)
        _check_variables(signature.input_schema, names)
    else:
        signature, uri_parameter = _raw_signature(definition, names)
        description, meta = definition.description, raw_meta(definition)
    own = {
        "matcher": matcher,
        "completers": _completers(definition.completions, names, signature),
        "uri_parameter": uri_parameter,
        "subscribed": definition.subscribed,
    }
    about = (uri, name, definition.title, description, definition.mime_type, owner, meta)
    icons = tuple(definition.icons)
    item: Any
    if matcher is None:
        item = Resource(*about, definition.annotations, definition.size, icons, raw=raw, place=definition.place)
    elif definition.size is not None:
        raise ToolDefinitionError("a template cannot have a size; remove it")
    else:
        item = ResourceTemplate(*about, definition.annotations, icons, raw=raw, place=definition.place)
    return with_tags(item, definition.tags), runnable(definition.function, signature), signature, own


def _raw_signature(definition: ResourceDefinition | PromptDefinition, names: Sequence[str]) -> tuple[Signature, str]:
    """Return the signature of a raw definition, and the parameter that receives everything."""
    signature, whole = raw_signature(definition)
    return signature._replace(input_schema={"type": "object", "properties": {name: {} for name in names}}), whole


def _matcher(template: str, *, needs_scheme: bool) -> Matcher:
    try:
        return Matcher(template, needs_scheme=needs_scheme)
    except UriTemplateError as error:
        raise ToolDefinitionError(f"its URI template cannot be served: {error}") from None


def _check_variables(schema: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise an error if the parameters of a function differ from the variables of its URI."""
    properties, required = schema["properties"], schema.get("required", ())
    if not names and properties:
        raise ToolDefinitionError(f"the function has the parameters {_list(properties)}, but the URI has no variables")
    if missing := [name for name in names if name not in properties]:
        raise ToolDefinitionError(f"the URI has the variable {missing[0]!r}, but the function has no such parameter")
    if unknown := [name for name in required if name not in names]:
        raise ToolDefinitionError(f"the function has the parameter {unknown[0]!r}, but the URI has no such variable")


def compile_prompt(definition: PromptDefinition, name: str, owner: str) -> Compiled:
    """Compile a prompt of a toolkit under its name on the wire.

    Raises:
        ToolDefinitionError: the definition cannot be served.
    """
    if complaint := check_wire_name(name):
        raise ToolDefinitionError(complaint)
    description, meta, parsed = definition.description, definition.meta, frozenset[str]()
    if definition.raw is None:
        description, documented = described(definition)
        signature = compile_signature(definition.function, with_result=False, documented=documented)
        schema = signature.input_schema
        check_schema_texts(schema, schema_json(schema))
        required = schema.get("required", ())
        arguments = tuple(
            PromptArgument(argument, about.get("title"), about.get("description"), argument in required)
            for argument, about in schema["properties"].items()
        )
        parsed = frozenset(key for key in schema["properties"] if not _is_single(key, schema))
        description = description or None
    else:
        arguments, meta = raw_arguments(definition), raw_meta(definition)
        signature, _ = _raw_signature(definition, [argument.name for argument in arguments])
    names = [argument.name for argument in arguments]
    own = {"parsed": parsed, "completers": _completers(definition.completions, names, signature)}
    icons = tuple(definition.icons)
    prompt = Prompt(name, definition.title, description, owner, arguments, meta, icons)
    prompt = prompt._replace(raw=definition.raw, place=definition.place)
    return with_tags(prompt, definition.tags), runnable(definition.function, signature), signature, own


# --- arguments


def _kinds(name: str, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schemas of the alternatives of an argument's type, except null."""
    found = subschemas_at((name,), schema)
    return [kind for kind in found if kind.get("type") != "null" and not kind.keys() & {"anyOf", "oneOf"}]


def _is_single(name: str, schema: Mapping[str, Any]) -> bool:
    """Return True if an argument's string is its value, False if the string must be parsed as JSON."""
    kinds = _kinds(name, schema)
    return not kinds or any(
        kind.get("type") not in ("array", "object")
        and any(isinstance(value, str) for value in kind.get("enum", [kind.get("const", "")]))
        for kind in kinds
    )


def _choices(name: str, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the possible values of an argument if its type has only a few, else an empty sequence."""
    choices: list[str] = []
    for kind in _kinds(name, schema):
        if kind.get("type") == "boolean":
            choices += ["true", "false"]
        elif "enum" in kind or "const" in kind:
            choices += [str(value) for value in kind.get("enum", [kind.get("const")])]
        else:
            return ()
    return tuple(dict.fromkeys(choices))


# --- completion


def _completers(completions: Any, names: Sequence[str], signature: Signature) -> dict[str, BoundCompleter]:
    """Return the completer of each argument: the author's completer, or else a completer for the argument's type."""
    if not isinstance(completions, Mapping):
        raise ToolDefinitionError(f"its completions must be a dict by argument, not {type(completions).__name__}")
    if unknown := [name for name in completions if name not in names]:
        raise ToolDefinitionError(
            f"the completion for {unknown[0]!r} does not match an argument: choose from {_list(names)}"
        )
    schema = signature.input_schema
    completers: dict[str, BoundCompleter] = {}
    for name in names:
        if name in completions:
            completers[name] = _completer(completions[name], name, names)
        elif choices := _choices(name, schema):
            completers[name] = BoundCompleter(choices)
    return completers


def _completer(completion: Any, name: str, names: Sequence[str]) -> BoundCompleter:
    if callable(completion):
        return _of_function(completion, name, names)
    if isinstance(completion, str) or not isinstance(completion, Iterable):
        raise ToolDefinitionError(f"its completion for {name!r} must be a function or a list of strings")
    values = tuple(completion)
    if not all(isinstance(value, str) for value in values):
        raise ToolDefinitionError(f"its completion for {name!r} must contain only strings")
    return BoundCompleter(values)


def _of_function(function: Callable[..., Any], name: str, names: Sequence[str]) -> BoundCompleter:
    context = context_parameter(function)
    parameters = [
        parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != context
    ]
    if not parameters or any(
        parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) for parameter in parameters
    ):
        raise ToolDefinitionError(
            f"invalid completion for {name!r}: use a function whose first parameter is the typed string, "
            "without positional-only parameters, *args and **kwargs"
        )
    typed, *others = parameters
    for parameter in others:
        if parameter.name not in names:
            raise ToolDefinitionError(
                f"the completion for {name!r} has the parameter {parameter.name!r}, which is not an argument: "
                f"choose from {_list(names)}"
            )
    optional = {parameter.name: parameter.default is not parameter.empty for parameter in others}
    return BoundCompleter(None, Function.of(function), typed.name, optional, context)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
