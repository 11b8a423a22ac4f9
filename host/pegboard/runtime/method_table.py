"""The table of methods of one assembly. Each method is wrapped in its middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pegboard.calls.execute import Runtime, call_tool
from pegboard.calls.served_item import ServedItem
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.pages import may_use
from pegboard.errors import NotFoundError, ProtocolError, ToolDefinitionError, ToolInputError, ToolOutputSchemaError
from pegboard.messages.error_words import line
from pegboard.middleware.chain import CLIENT_NOTIFICATIONS, chain
from pegboard.middleware.gate import Gate, ListKind
from pegboard.plugin.methods import NotificationHandler
from pegboard.types.callers import EMPTY
from pegboard.types.calls import (
    Call,
    CallNext,
    Completion,
    MethodResult,
    Outcome,
    RawResult,
    ResourceResult,
    ToolResult,
)
from pegboard.wire.meta_keys import INVALID_PARAMS

if TYPE_CHECKING:
    from pegboard.schemas.json_schema import JsonSchema


def method_table(assembly: Assembly, lists: Callable[[ListKind], CallNext], runtime: Runtime) -> dict[str, CallNext]:
    """Return all methods by name, each wrapped in its middleware.

    Args:
        assembly: the assembly.
        lists: returns the method that lists a kind of items.
        runtime: the shared objects of calls.
    """
    methods = _Methods(assembly, runtime)
    table: dict[str, CallNext] = {
        "tools/call": methods.call_tool,
        "tools/list": lists("tools"),
        "resources/list": lists("resources"),
        "resources/templates/list": lists("templates"),
        "resources/read": methods.read_resource,
        "prompts/list": lists("prompts"),
        "prompts/get": methods.get_prompt,
        "completion/complete": methods.complete,
    }
    if any(isinstance(link.middleware, Gate) for link in assembly.middleware):
        table["resources/read"] = _private(methods.read_resource)
    for method in assembly.contributed.methods.values():
        table[method.name] = method.handler
    for listener in assembly.contributed.notifications.values():
        table[listener.name] = _heard(listener)
    for name in CLIENT_NOTIFICATIONS:
        table[name] = _nobody
    promises = {"tools/call": OutputSchemas(assembly.tools).problem}
    runtime.middleware.tools = assembly.tools
    chains = {
        method: chain(method, handler, assembly.middleware, promises.get(method), runtime.middleware)
        for method, handler in table.items()
    }
    return {method: handler for method, handler in chains.items() if handler is not _nobody}


def _private(read: CallNext) -> CallNext:
    """Return a method that reads resources for some callers only, so that no cache gives them to others."""

    async def read_private(call: Call) -> Outcome:
        outcome = await read(call)
        if isinstance(outcome, RawResult):
            return RawResult({**outcome.value, "cacheScope": "private"})
        return outcome._replace(public=False) if isinstance(outcome, ResourceResult) else outcome

    return read_private


def _heard(listener: NotificationHandler) -> CallNext:
    async def hear(call: Call) -> Outcome:
        await listener.handler(call)
        return MethodResult()

    return hear


async def _nobody(call: Call) -> Outcome:
    """Ignore a notification that the protocol has already processed."""
    return MethodResult()


def _text_parameter(params: Mapping[str, Any], name: str, where: str = "") -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise ProtocolError(INVALID_PARAMS, f"params.{where}{name} must be a string")
    return value


def _object(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = params.get(name)
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, f"params.{name} must be an object")
    return value


class _Methods:
    def __init__(self, assembly: Assembly, runtime: Runtime) -> None:
        self._tools = assembly.tools
        resources = assembly.resources.values()
        self._resources = {bound.name: bound for bound in resources if bound.matcher is None}
        self._templates = sorted(
            [(bound.matcher, bound) for bound in resources if bound.matcher is not None], key=lambda pair: pair[0].rank
        )
        self._prompts = assembly.prompts
        self._runtime = runtime

    def call_tool(self, call: Call) -> Awaitable[Outcome]:
        name = _text_parameter(call.params, "name")
        bound = self._tools.get(name)
        if bound is None or (bound.requirements.scopes and not may_use(call.caller, bound)):
            raise NotFoundError(f"Unknown tool: {name}")
        arguments = call.params.get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            from pegboard.messages.hints import got

            raise ProtocolError(INVALID_PARAMS, f"params.arguments must be an object{got(arguments)}")
        return call_tool(bound, call, self._runtime)

    async def read_resource(self, call: Call) -> Outcome:
        from pegboard.calls.content_results import not_found, read_resource  # imported with the first resource

        uri = _text_parameter(call.params, "uri")
        if uri in self._resources:
            return await read_resource(self._resources[uri], uri, EMPTY, {}, call, self._runtime)
        why = ""
        for matcher, bound in self._templates:
            values = matcher.match(uri)
            if values is None:
                continue
            try:
                keywords = bound.signature.bind(values)
            except ToolInputError as error:
                why = ": " + error.message.removeprefix("Invalid arguments:\n").replace("\n", "; ")
                continue
            return await read_resource(bound, uri, values, keywords, call, self._runtime)
        raise not_found(uri, why)

    async def get_prompt(self, call: Call) -> Outcome:
        from pegboard.calls.content_results import get_prompt  # imported with the first prompt

        name = _text_parameter(call.params, "name")
        if name not in self._prompts:
            raise NotFoundError(f"Unknown prompt: {name}")
        if not isinstance(call.params.get("arguments"), dict | None):
            raise ProtocolError(INVALID_PARAMS, "params.arguments must be an object")
        return await get_prompt(self._prompts[name], call, self._runtime)

    async def complete(self, call: Call) -> Outcome:
        reference, argument = _object(call.params, "ref"), _object(call.params, "argument")
        name, typed = _text_parameter(argument, "name", "argument."), _text_parameter(argument, "value", "argument.")
        context = call.params.get("context")
        chosen = context.get("arguments", {}) if isinstance(context, dict) else {} if context is None else None
        if not isinstance(chosen, dict) or not all(isinstance(value, str) for value in chosen.values()):
            raise ProtocolError(INVALID_PARAMS, "params.context.arguments must be an object of strings")
        bound = self._referred(reference)
        if name not in bound.signature.input_schema["properties"]:
            raise ProtocolError(INVALID_PARAMS, f"Unknown argument: {name}")
        completer = bound.completers.get(name)
        if completer is None:
            return Completion(())
        from pegboard.calls.completion import complete

        return await complete(completer, bound, typed, chosen, call, self._runtime)

    def _referred(self, reference: Mapping[str, Any]) -> ServedItem:
        kind = reference.get("type")
        if kind == "ref/prompt":
            name = _text_parameter(reference, "name", "ref.")
            if name not in self._prompts:
                raise NotFoundError(f"Unknown prompt: {name}")
            return self._prompts[name]
        if kind != "ref/resource":
            raise ProtocolError(INVALID_PARAMS, "params.ref.type must be ref/prompt or ref/resource")
        uri = _text_parameter(reference, "uri", "ref.")
        resource = next((bound for _, bound in self._templates if bound.name == uri), self._resources.get(uri))
        if resource is None:
            raise NotFoundError(f"Unknown resource template: {uri}", data={"uri": uri})
        return resource


# --- Results of middleware in place of those of tools, checked against the output schema (MCP, server/tools).


class OutputSchemas:
    """The output schemas of tools. Each schema is compiled at its first use.

    Args:
        tools: the tools by name.
    """

    def __init__(self, tools: Mapping[str, ServedItem]) -> None:
        self._tools = tools
        self._schema = cache(self._compiled)

    def problem(self, call: Call, outcome: Outcome) -> str | None:
        """Return the reason why an outcome does not fit the tool's output schema, or None if it fits."""
        bound = self._tools.get(str(call.params.get("name")))
        if not isinstance(outcome, ToolResult) or outcome.is_error or bound is None or bound.tool.output_schema is None:
            return None
        if not outcome.structured:
            return "a ToolResult that is not structured for a tool with an output schema"
        if (schema := self._schema(bound.name)) is None:
            return None
        try:
            problems = schema.problems(outcome.value)
        except ValueError:
            return "a ToolResult whose value is not JSON"
        if not problems:
            return None
        texts = "; ".join(line(path, text) for path, text in problems[:3])
        return f"a ToolResult that does not fit the tool's output schema: {texts}"

    def _compiled(self, name: str) -> JsonSchema | None:
        """Return the compiled schema of a tool, or None if only pydantic supports the schema."""
        from pegboard.schemas.json_schema import compile_schema

        try:
            return compile_schema(self._tools[name].tool.output_schema, "output_schema", ToolOutputSchemaError)
        except ToolDefinitionError:
            return None
