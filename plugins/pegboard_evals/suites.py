"""Suites: cases that share a system message, a rubric and tools."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any, NotRequired, Self, TypeAlias, TypedDict

from pegboard_evals.critics import Critic, NoneCritic
from pegboard_evals.scoring import ActualCall, EvalCase, EvalRubric, NamedExpectedToolCall, plain_name
from pegboard_evals.weights import EvalError


class MCPToolDefinition(TypedDict):
    """A tool as an MCP server lists it."""

    name: str
    description: NotRequired[str]
    inputSchema: NotRequired[Mapping[str, Any]]


@dataclass
class ExpectedToolCall:
    """An expected call of a tool that is a Python function.

    Attributes:
        func: the function.
        args: the expected arguments. The others have their defaults.
    """

    func: Callable[..., Any]
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class ExpectedMCPToolCall:
    """An expected call of a tool by name.

    Attributes:
        tool_name: the name, with any separators.
        args: the expected arguments. The others have the defaults in the schema.
    """

    tool_name: str
    args: dict[str, Any] = field(default_factory=dict)


AnyExpectedToolCall: TypeAlias = ExpectedToolCall | ExpectedMCPToolCall | tuple[Callable[..., Any], dict[str, Any]]


class ToolCatalog:
    """The functions whose tools a suite offers to the model."""

    def __init__(self) -> None:
        self._modules: list[str] = []
        self._codes: set[CodeType | None] = set()

    def add_module(self, module: ModuleType) -> None:
        """Add all tools in a module or package."""
        self._modules.append(module.__name__)

    def add_tool(self, tool_func: Callable[..., Any], toolkit_or_name: object = None) -> None:
        """Add the tool of a function. The second argument has no effect: the host names the tool."""
        self._codes.add(_code(tool_func))

    def __contains__(self, function: Callable[..., Any]) -> bool:
        module = f"{getattr(function, '__module__', '')}."
        return _code(function) in self._codes or any(module.startswith(f"{name}.") for name in self._modules)


@dataclass
class EvalSuite:
    """Cases that share a system message, a rubric and tools.

    Attributes:
        name: the name of the suite.
        system_message: the system message of cases without their own.
        catalog: the functions whose tools the model gets; None for all tools of the command.
        cases: the cases.
        rubric: the rubric of cases without their own.
        definitions: tools of the suite's own.
    """

    name: str
    system_message: str
    catalog: ToolCatalog | None = None
    cases: list[EvalCase] = field(default_factory=list)
    rubric: EvalRubric = field(default_factory=EvalRubric)
    definitions: list[MCPToolDefinition] = field(default_factory=list)

    def add_case(
        self,
        name: str,
        user_message: str,
        expected_tool_calls: Sequence[AnyExpectedToolCall] = (),
        critics: Sequence[Critic] | None = None,
        system_message: str | None = None,
        rubric: EvalRubric | None = None,
        additional_messages: Sequence[dict[str, Any]] | None = None,
    ) -> None:
        """Add a case: see `EvalCase`.

        Raises:
            ValueError: two critics judge one argument.
            WeightError: a weight is below 0.
        """
        fields = [critic.critic_field for critic in critics or ()]
        if twice := sorted({name for name in fields if fields.count(name) > 1}):
            raise ValueError(f"the case {name!r} has several critics of {', '.join(twice)}: leave one")
        self.cases.append(
            EvalCase(
                name,
                system_message or self.system_message,
                user_message,
                [_named(call) for call in expected_tool_calls],
                [*(critics or ())],
                [*(additional_messages or ())],
                rubric or self.rubric,
            )
        )
        _add_none_critics(self.cases[-1])

    def extend_case(
        self,
        name: str,
        user_message: str,
        system_message: str | None = None,
        expected_tool_calls: Sequence[AnyExpectedToolCall] | None = None,
        rubric: EvalRubric | None = None,
        critics: Sequence[Critic] | None = None,
        additional_messages: Sequence[dict[str, Any]] | None = None,
    ) -> None:
        """Add a case that has the messages, the expected calls and the critics of the last one, except those given.

        Raises:
            ValueError: there is no case to extend, or two critics judge one argument.
        """
        if not self.cases:
            raise ValueError("there is no case to extend: call add_case first")
        last = self.cases[-1]
        messages = [*last.additional_messages, *(additional_messages or ())]
        kept = critics or last.critics
        self.add_case(name, user_message, (), kept, system_message or last.system_message, rubric, messages)
        self.cases[-1].expected_tool_calls = [_named(call) for call in expected_tool_calls or ()] or [
            NamedExpectedToolCall(call.name, dict(call.args), call.func) for call in last.expected_tool_calls
        ]
        _add_none_critics(self.cases[-1])

    def add_tool_definitions(self, tools: Sequence[MCPToolDefinition]) -> Self:
        """Add tools of the suite's own, as an MCP server lists them. They take the place of the tools of the command.

        Raises:
            ValueError: a tool has no name, or a name is in use.
        """
        for tool in map(shown_tool, tools):
            if not tool["name"] or tool["name"] in [other["name"] for other in self.definitions]:
                raise ValueError(f"each tool must have a name of its own, not {tool['name']!r}: rename it")
            self.definitions.append(tool)
        return self

    def bind(
        self, served: Sequence[MCPToolDefinition], functions: Mapping[str, Callable[..., Any]]
    ) -> list[MCPToolDefinition]:
        """Name the expected tools, add the defaults of their schemas, and return the tools that the model gets.

        Args:
            served: the tools of the command.
            functions: the functions of tools, by the names of the tools.

        Raises:
            EvalError: there are no tools, or a function is not among them.
        """
        tools = self.definitions or [
            tool for tool in served if self.catalog is None or functions.get(tool["name"], len) in self.catalog
        ]
        if not tools:
            raise EvalError(f"the suite {self.name!r} finds no tools: serve its toolkit, or add definitions")
        names = {_code(function): name for name, function in functions.items()}
        for case in self.cases:
            for call in case.expected_tool_calls:
                if call.func is not None and _code(call.func) not in names:
                    raise EvalError(
                        f"the case {case.name!r} expects the function {call.name}, which is no tool here: "
                        "serve its toolkit, or name the tool with ExpectedMCPToolCall"
                    )
                name = call.name if call.func is None else names[_code(call.func)]
                call.name, call.args = with_defaults((name, call.args), tools)
            _add_none_critics(case)
        return tools


@dataclass
class SuiteFunction:
    """A function that makes a suite. `pegboard evals` runs the suites of all such functions in a file."""

    function: Callable[[], EvalSuite | Awaitable[EvalSuite]]

    async def suite(self) -> EvalSuite:
        """Return the suite.

        Raises:
            EvalError: the function returns something else.
        """
        made = self.function()
        suite = await made if inspect.isawaitable(made) else made
        if not isinstance(suite, EvalSuite):
            raise EvalError(f"it returns {type(suite).__name__}: return an EvalSuite")
        return suite


def tool_eval() -> Callable[[Callable[[], EvalSuite | Awaitable[EvalSuite]]], SuiteFunction]:
    """Return a decorator for functions that make a suite, sync or async."""
    return SuiteFunction


def shown_tool(tool: Mapping[str, Any]) -> MCPToolDefinition:
    """Return the members of a tool that a model gets."""
    schema = tool.get("inputSchema") or {"type": "object", "properties": {}}
    return {"name": tool.get("name", ""), "description": tool.get("description") or "", "inputSchema": schema}


def with_defaults(call: ActualCall, tools: Sequence[MCPToolDefinition]) -> ActualCall:
    """Return a call with the tool's own name, and with the defaults of its schema for missing and null values."""
    name, arguments = call
    tool = next((tool for tool in tools if plain_name(tool["name"]) == plain_name(name)), None)
    if tool is None:
        return call
    properties = tool.get("inputSchema", {}).get("properties", {})
    defaults = {key: schema["default"] for key, schema in properties.items() if "default" in schema}
    missing = {key: value for key, value in defaults.items() if arguments.get(key) is None}
    return tool["name"], {**arguments, **missing}


def _named(call: AnyExpectedToolCall) -> NamedExpectedToolCall:
    """Return an expected call. The arguments of a function have its defaults."""
    if isinstance(call, ExpectedMCPToolCall):
        return NamedExpectedToolCall(call.tool_name, dict(call.args))
    function, given = call if isinstance(call, tuple) else (call.func, call.args)
    parameters = inspect.signature(function).parameters.values()
    defaults = {item.name: None if item.default is item.empty else item.default for item in parameters}
    arguments = {name: given.get(name, default) for name, default in defaults.items()}
    return NamedExpectedToolCall(getattr(function, "__name__", repr(function)), arguments, function)


def _add_none_critics(case: EvalCase) -> None:
    """Add a critic without effect for each expected argument that has none."""
    judged = case.critics = case.critics or []
    known = {critic.critic_field for critic in judged}
    expected = dict.fromkeys(name for call in case.expected_tool_calls for name in call.args)
    judged.extend(NoneCritic(name) for name in expected if name not in known)


def _code(function: Callable[..., Any]) -> CodeType | None:
    """Return the code of a function, which is the same for each import of its file."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code if isinstance(code, CodeType) else None
