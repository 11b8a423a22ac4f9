"""Suites: cases that share a system message, a rubric and tools."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from pegboard_evals.critics import Critic, NoneCritic
from pegboard_evals.scoring import EvalCase, EvalRubric, NamedExpectedToolCall
from pegboard_evals.servers import load_arcade_mcp_gateway_async, load_from_stdio_async, load_mcp_remote_async
from pegboard_evals.tools import MCPToolDefinition, ToolCatalog, code_of, shown_tool, with_defaults
from pegboard_evals.weights import EvalError


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


@dataclass
class EvalSuite:
    """Cases that share a system message, a rubric and tools.

    Attributes:
        name: the name of the suite.
        system_message: the system message of cases without their own.
        catalog: the functions whose tools the model gets; None for all tools of the command.
        cases: the cases.
        rubric: the rubric of cases without their own.
        max_concurrent: without effect: the option `--concurrency` replaces it.
        strict_mode: without effect: models get the schemas as clients do.
        sources: the suite's own tools and catalogues, by track; "" is for cases without a track.
    """

    name: str
    system_message: str
    catalog: ToolCatalog | None = None
    cases: list[EvalCase] = field(default_factory=list)
    rubric: EvalRubric = field(default_factory=EvalRubric)
    max_concurrent: int = 1
    strict_mode: bool = True
    sources: dict[str, list[MCPToolDefinition | ToolCatalog]] = field(default_factory=dict, init=False)
    _builders: list[ComparativeCaseBuilder] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.catalog is not None:
            self.add_tool_catalog(self.catalog)

    def get_tracks(self) -> list[str]:
        """Return the names of the tracks."""
        return [track for track in self.sources if track]

    def add_case(
        self,
        name: str,
        user_message: str,
        expected_tool_calls: Sequence[AnyExpectedToolCall] = (),
        critics: Sequence[Critic] | None = None,
        system_message: str | None = None,
        rubric: EvalRubric | None = None,
        additional_messages: Sequence[dict[str, Any]] | None = None,
        track: str = "",
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
                track,
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
        system = system_message or last.system_message
        self.add_case(name, user_message, (), kept, system, rubric, messages, last.track)
        self.cases[-1].expected_tool_calls = [_named(call) for call in expected_tool_calls or ()] or [
            NamedExpectedToolCall(call.name, dict(call.args), call.func) for call in last.expected_tool_calls
        ]
        _add_none_critics(self.cases[-1])

    def add_comparative_case(
        self,
        name: str,
        user_message: str,
        system_message: str | None = None,
        additional_messages: Sequence[dict[str, Any]] | None = None,
        rubric: EvalRubric | None = None,
    ) -> ComparativeCaseBuilder:
        """Return a case for several tracks: `for_track` adds it to each."""
        builder = ComparativeCaseBuilder(self, name, user_message, system_message, additional_messages, rubric)
        self._builders.append(builder)
        return builder

    # --- the suite's own tools, which replace the tools of the command

    def add_tool_definitions(self, tools: Sequence[MCPToolDefinition], *, track: str | None = None) -> Self:
        """Add tools, as an MCP server lists them.

        Args:
            tools: the tools.
            track: the track that gets them; None for cases without a track.

        Raises:
            ValueError: a tool has no name, or its name is in use.
        """
        sources = self.sources.setdefault(track or "", [])
        for tool in map(shown_tool, tools):
            if not tool["name"] or tool["name"] in [other["name"] for other in sources if isinstance(other, dict)]:
                raise ValueError(f"each tool must have a name of its own, not {tool['name']!r}: rename it")
            sources.append(tool)
        return self

    def add_tool_catalog(self, catalog: ToolCatalog, *, track: str | None = None) -> Self:
        """Add the tools of functions, which the host must serve."""
        self.sources.setdefault(track or "", []).append(catalog)
        return self

    async def add_mcp_server(self, url: str, *, track: str | None = None, **options: Any) -> Self:
        """Add the tools of the server at a URL. The options are those of `load_mcp_remote_async`."""
        return self.add_tool_definitions(await load_mcp_remote_async(url, **options), track=track)

    async def add_mcp_stdio_server(self, command: Sequence[str], *, track: str | None = None, **options: Any) -> Self:
        """Add the tools of the server that a command starts. The options are those of `load_from_stdio_async`."""
        return self.add_tool_definitions(await load_from_stdio_async(command, **options), track=track)

    async def add_arcade_gateway(self, gateway_slug: str, *, track: str | None = None, **options: Any) -> Self:
        """Add the tools of a gateway of Arcade. The options are those of `load_arcade_mcp_gateway_async`."""
        return self.add_tool_definitions(await load_arcade_mcp_gateway_async(gateway_slug, **options), track=track)

    # --- before a run

    def bind(
        self, served: Sequence[MCPToolDefinition], functions: Mapping[str, Callable[..., Any]]
    ) -> dict[str, list[MCPToolDefinition]]:
        """Name the expected tools, add the defaults of their schemas, and return the tools of each track.

        Args:
            served: the tools of the command.
            functions: the functions of tools, by the names of the tools.

        Raises:
            EvalError: there are no tools, a function is not among them, or a case for tracks has none.
        """
        for builder in self._builders:
            if not builder.tracks:
                raise EvalError(f"the case {builder.name!r} has no track: call its for_track")
        tracks = dict.fromkeys(case.track for case in self.cases)
        offered = {track: self._tools(track, served, functions) for track in tracks}
        names = {code_of(function): name for name, function in functions.items()}
        for case in self.cases:
            for call in case.expected_tool_calls:
                if call.func is not None and code_of(call.func) not in names:
                    raise EvalError(
                        f"the case {case.name!r} expects the function {call.name}, which is no tool here: "
                        "serve its toolkit, or name the tool with ExpectedMCPToolCall"
                    )
                name = call.name if call.func is None else names[code_of(call.func)]
                call.name, call.args = with_defaults((name, call.args), offered[case.track])
            _add_none_critics(case)
        return offered

    def _tools(
        self, track: str, served: Sequence[MCPToolDefinition], functions: Mapping[str, Callable[..., Any]]
    ) -> list[MCPToolDefinition]:
        """Return the tools that the model gets for the cases of a track."""
        tools: list[MCPToolDefinition] = []
        for source in self.sources.get(track, () if track else served):
            if isinstance(source, ToolCatalog):
                tools += [tool for tool in served if functions.get(tool["name"], len) in source]
            else:
                tools.append(source)
        if not tools:
            owner = f"the track {track!r}" if track else f"the suite {self.name!r}"
            raise EvalError(f"{owner} has no tools: serve its toolkit, or add definitions")
        return tools


@dataclass
class ComparativeCaseBuilder:
    """A case for several tracks, whose tools and expectations differ.

    Attributes:
        suite: the suite that gets a case for each track.
        name: the name of the case. In the reports, the track follows in brackets.
        user_message: the last message of the user.
        system_message: the system message; None for that of the suite.
        additional_messages: messages before the last one.
        rubric: the rules by which the case passes; None for those of the suite.
        tracks: the tracks that have the case.
    """

    suite: EvalSuite
    name: str
    user_message: str
    system_message: str | None = None
    additional_messages: Sequence[dict[str, Any]] | None = None
    rubric: EvalRubric | None = None
    tracks: list[str] = field(default_factory=list, init=False)

    def for_track(
        self,
        track_name: str,
        expected_tool_calls: Sequence[AnyExpectedToolCall],
        critics: Sequence[Critic] | None = None,
    ) -> Self:
        """Add the case to a track, with the calls that are expected there.

        Raises:
            ValueError: the suite has no tools for the track, or the track has the case.
        """
        known = self.suite.get_tracks()
        if track_name not in known or track_name in self.tracks:
            problem = "has no tools" if track_name not in known else f"has the case {self.name!r}"
            raise ValueError(f"the track {track_name!r} {problem}; the tracks are {', '.join(known) or 'none'}")
        self.tracks.append(track_name)
        self.suite.add_case(
            f"{self.name} [{track_name}]",
            self.user_message,
            expected_tool_calls,
            critics,
            self.system_message,
            self.rubric,
            self.additional_messages,
            track_name,
        )
        return self


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
