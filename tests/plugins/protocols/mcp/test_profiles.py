"""Profiles: the items of each, on message streams of both eras and over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict

from pegboard import Context, Host, NotFoundError, ToolAnnotations, Toolkit, ToolResult, tool
from pegboard.config import HostConfig
from pegboard.plugin import Gate, Method, Middleware, ProtocolError
from pegboard.types import LOCAL, Call, Caller, CallNext, ItemKind, MethodResult, Outcome, Request, Response
from pegboard_testing import TestClient, connect
from tests.host.hosting import plugin_of
from tests.support.http_mcp import message, mirrored, modern, opening
from tests.support.schemas import LEGACY, MODERN

ERAS = [LEGACY[-1], MODERN[-1]]
READ_ONLY = ToolAnnotations(read_only=True)


def make_kit() -> Toolkit:
    kit = Toolkit("kit")

    def work(what: str = "") -> str:
        """Work."""
        return what

    def hours() -> str:
        """Work."""
        return "hours"

    def page(name: str) -> str:
        """Work."""
        return name

    kit.tool(name="read", annotations=READ_ONLY, tags=["a"])(work)
    kit.tool(name="write", tags=["a"])(work)

    @kit.tool(annotations=READ_ONLY)
    async def change(context: Context, outside: bool, own: bool) -> str:
        """Add a tool outside the profile, and one inside it."""
        text = await context.tools.call("kit_write", {"what": "nested"})
        if outside:
            context.catalogue.add(tool(name=f"more{text}")(work).definition)
        if own:
            context.catalogue.add(tool(name="own", annotations=READ_ONLY)(work).definition)
        context.catalogue.update(tool(name="write")(work).definition)
        context.notifications.prompts.list_changed()
        return "changed"

    kit.resource("kit://open", tags=["a"])(hours)
    kit.resource("kit://closed")(hours)
    kit.resource("kit://{name}", completions={"name": ["x"]})(page)
    kit.prompt(name="open", tags=["a"])(work)
    kit.prompt(name="closed", completions={"what": ["x"]})(work)
    return kit


def serving(
    profile: Mapping[str, Any], revision: str = MODERN[-1], *, kit: Toolkit | None = None, **options: Any
) -> connect:
    settings = {"profiles": {"part": profile}, "stream_profile": "part"}
    return connect(kit or make_kit(), hostconfig={"plugins": {"mcp": settings}}, revision=revision, **options)


async def listed(client: TestClient) -> list[str]:
    """Return the names of all items. Lists of kinds that the profile never has do not exist."""
    shown: list[str] = []
    for kind in (client.tools, client.resources, client.templates, client.prompts):
        with suppress(ProtocolError):
            shown += [item.get("uri") or item.get("uriTemplate") or item["name"] for item in await kind()]
    return shown


RESOURCES = ["kit://closed", "kit://open", "kit://{name}"]
PROMPTS = ["kit_closed", "kit_open"]


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize(
    ("profile", "items"),
    [
        ({"read_only": True}, ["kit_change", "kit_read", *RESOURCES, *PROMPTS]),
        ({"tags": ["a"]}, ["kit_read", "kit_write", "kit://open", "kit_open"]),
        ({"tags": ["[a]"], "read_only": True}, ["kit_read", "kit://open", "kit_open"]),
        ({"tools": ["*_write"], "resources": ["kit://c*"]}, ["kit_write", "kit://closed"]),
        ({"tools": ["kit_*"], "toolkits": ["k?t"], "tags": ["a"]}, ["kit_read", "kit_write"]),
        ({"prompts": ["*"]}, PROMPTS),
    ],
)
async def test_lists_have_the_items_of_the_profile(profile: dict[str, Any], items: list[str], revision: str) -> None:
    async with serving(profile, revision) as client:
        assert await listed(client) == items
        assert client.problems == ()


@pytest.mark.parametrize("revision", ERAS)
async def test_other_items_do_not_exist(revision: str) -> None:
    async with serving({"tags": ["a"]}, revision) as client:
        assert (await client.call("kit_read", what="x")).text == "x"
        assert (await client.read("kit://open")).text == "hours"
        await client.prompt("kit_open")
        wrong: list[tuple[str, dict[str, Any], str]] = [
            ("tools/call", {"name": "kit_change"}, "Unknown tool: kit_change"),
            ("tools/call", {"name": "none"}, "Unknown tool: none"),
            ("resources/read", {"uri": "kit://closed"}, "Resource not found"),
            ("resources/read", {"uri": "kit://other"}, "Resource not found"),
            ("prompts/get", {"name": "kit_closed"}, "Unknown prompt: kit_closed"),
            ("completion/complete", completing({"type": "ref/prompt", "name": "kit_closed"}), "Unknown prompt"),
            ("completion/complete", completing({"type": "ref/resource", "uri": "kit://{name}"}), "Unknown resource"),
        ]
        for method, params, text in wrong:
            with pytest.raises((ProtocolError, NotFoundError), match=text):
                await client.request(method, params)


class Answering(Middleware):
    """Answers every call of a tool in its place, as a cache does."""

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        return ToolResult("cached")


async def test_middleware_does_not_answer_for_a_tool_outside_the_profile() -> None:
    async with serving({"tags": ["a"]}, plugins={"answers": plugin_of(middleware=[Answering()])}) as client:
        assert (await client.call("kit_read")).text == "cached"
        with pytest.raises(ProtocolError, match="Unknown tool: kit_change"):
            await client.call("kit_change")


@pytest.mark.parametrize("revision", ERAS)
async def test_only_tools_of_the_profile_are_suggested(revision: str) -> None:
    async with serving({"tools": ["kit_*"], "read_only": True}, revision) as client:
        for name, message in {
            "kit_raed": "Unknown tool: kit_raed; did you mean 'kit_read'?",
            "kit_wriet": "Unknown tool: kit_wriet",
            "kit_write": "Unknown tool: kit_write",
        }.items():
            with pytest.raises((ProtocolError, NotFoundError)) as raised:
                await client.call(name)
            assert str(raised.value) == message


class Hiding(Gate):
    """Hides the tool `kit_read`."""

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        return name != "kit_read"


async def test_no_tool_outside_the_profile_is_suggested_for_a_hidden_one() -> None:
    kit = make_kit()
    kit.tool(name="reads", description="Read.")(lambda: "")
    async with serving({"tags": ["a"]}, kit=kit, plugins={"gate": plugin_of(middleware=[Hiding()])}) as client:
        with pytest.raises(ProtocolError) as raised:
            await client.call("kit_read")
        assert str(raised.value) == "Unknown tool: kit_read"


@pytest.mark.parametrize("revision", ERAS)
async def test_errors_of_functions_are_passed_on(revision: str) -> None:
    kit = make_kit()

    def find(article: str) -> str:
        """Find."""
        raise NotFoundError(f"there is no article {article}")

    kit.tool(tags=["b"])(find)
    kit.resource("kit://articles/{article}", tags=["b"])(find)
    async with serving({"tags": ["b"]}, revision, kit=kit) as client:
        with pytest.raises((ProtocolError, NotFoundError), match="there is no article 7"):
            await client.read("kit://articles/7")
        assert "there is no article 8" in (await client.call("find", article="8")).text


def completing(reference: dict[str, str]) -> dict[str, Any]:
    return {"ref": reference, "argument": {"name": "what", "value": ""}}


@pytest.mark.parametrize("revision", ERAS)
async def test_notifications_are_about_the_profile(revision: str) -> None:
    async with serving({"read_only": True}, revision) as client:
        await client.listen()
        assert (await client.call("kit_change", outside=True, own=False)).text == "changed"
        await client.heard("notifications/prompts/list_changed")
        methods = [notification["method"] for notification in client.notifications]
        assert "notifications/tools/list_changed" not in methods
        await client.call("kit_change", outside=False, own=True)
        await client.heard("notifications/tools/list_changed")
        assert "kit_own" in await listed(client)
        with pytest.raises((ProtocolError, NotFoundError)):
            await client.request("tools/call", {"name": "kit_morenested"})


async def test_a_resource_outside_the_profile_cannot_be_subscribed_to() -> None:
    async with serving({"tags": ["a"]}, LEGACY[-1]) as client:
        await client.request("resources/subscribe", {"uri": "kit://open"})
        with pytest.raises(ProtocolError, match="Resource not found"):
            await client.request("resources/subscribe", {"uri": "kit://closed"})


async def test_methods_of_plugins_are_not_served() -> None:
    async def say(call: Call) -> MethodResult:
        return MethodResult({"said": 1})

    plugins = {"extra": plugin_of(register_methods=[Method("com.example/say", say)])}
    async with connect(make_kit(), plugins=plugins) as client:
        assert (await client.request("com.example/say"))["said"] == 1
    async with serving({"read_only": True}, plugins=plugins) as client:
        with pytest.raises(ProtocolError, match="Method not found"):
            await client.request("com.example/say")


# --- over HTTP


async def posted(host: Host, path: str, request: dict[str, Any], session: str | None = None) -> Response:
    fields = CIMultiDict(mirrored(request, **({} if session is None else {"MCP_Protocol_Version": LEGACY[-1]})))
    fields["Accept"] = "application/json, text/event-stream"
    if session:
        fields["Mcp-Session-Id"] = session
    answer = await host.respond(Request("POST", path, {}, fields, json.dumps(request).encode(), LOCAL))
    assert isinstance(answer, Response), answer
    return answer


def hosting(**mcp: Any) -> Host:
    profiles = {"read": {"read_only": True}, "none": {"tools": []}}
    sections = {"host": {"autoload": False}, "plugins": {"mcp": {"profiles": profiles, **mcp}}}
    return Host(sections, toolkits={"kit": make_kit()})


async def names(host: Host, path: str) -> list[str]:
    answer = await posted(host, path, modern(message("tools/list")))
    return [entry["name"] for entry in json.loads(answer.body)["result"]["tools"]]


async def test_each_profile_has_an_endpoint() -> None:
    async with hosting() as host:
        assert await names(host, "/mcp") == ["kit_change", "kit_read", "kit_write"]
        assert await names(host, "/mcp/read") == await names(host, "/mcp/read/") == ["kit_change", "kit_read"]
        assert await names(host, "/mcp/none") == []
        capabilities = json.loads((await posted(host, "/mcp/none", modern(message("server/discover")))).body)
        assert {"resources", "prompts"}.isdisjoint(capabilities["result"]["capabilities"])
        assert (await posted(host, "/mcp/other", modern(message("tools/list")))).status == 404
    async with hosting(path="/") as host:
        assert await names(host, "/read") == ["kit_change", "kit_read"]


async def test_a_session_belongs_to_one_endpoint() -> None:
    paths = ("/mcp", "/mcp/read", "/mcp/none")
    async with hosting() as host:
        for path in paths:
            opened = await posted(host, path, opening(), "")
            session = opened.headers["Mcp-Session-Id"]
            statuses = {other: (await posted(host, other, message("tools/list"), session)).status for other in paths}
            assert statuses == {other: 200 if other == path else 404 for other in paths}


@pytest.mark.parametrize(("policy", "hint"), [("worker", ""), ("mpc", "; did you mean 'mcp'?")])
def test_a_profile_has_the_policy_of_the_endpoint_or_its_own(policy: str, hint: str) -> None:
    host = hosting(profiles={"read": {"read_only": True}, "own": {"read_only": True, "auth": policy}})
    routes = host.load().routes
    assert "/mcp/read" in routes
    assert "/mcp/own" not in routes  # no plugin authenticates its callers
    (problem,) = host.problems
    assert f"authenticates the policy {policy!r} of the routes 'DELETE /mcp/own', " in str(problem)
    assert str(problem).endswith(f" and 3 more{hint}; they are not served")


WRONG = """
[plugins.mcp]
stream_profile = "public"
profiles.c = 3

[plugins.mcp.profiles."a/b"]
tags = ["a"]

[plugins.mcp.profiles.empty]

[plugins.mcp.profiles.public]
auth = "public"
tags = [4]
tolls = ["x"]
zzz = 1
"""
COMPLAINTS = [
    """4: plugins.mcp.profiles.c: expected a table, found the number 3""",
    """6: plugins.mcp.profiles."a/b": must match the regular expression ^[A-Za-z0-9_-]+$""",
    """9: plugins.mcp.profiles.empty: restricts nothing: set tools, resources, prompts, toolkits, tags or read_only""",
    """12: plugins.mcp.profiles.public.auth: the policy "public" would make the profile public: use another policy""",
    """13: plugins.mcp.profiles.public.tags[0]: expected a string, found the number 4; put it in quotes""",
    """14: plugins.mcp.profiles.public.tolls: unknown key; did you mean "tools"?""",
    """15: plugins.mcp.profiles.public.zzz: unknown key; the keys are tools, resources, prompts""",
]


def test_each_wrong_setting_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_text(WRONG)
    host = Host(HostConfig.load(tmp_path / "hostconfig.toml", environ={}, directory=tmp_path))
    host.load()
    lines = [line for problem in host.problems for line in str(problem).splitlines() if "hostconfig.toml:" in line]
    assert len(lines) == len(COMPLAINTS), lines
    for line, complaint in zip(lines, COMPLAINTS, strict=True):
        assert f"hostconfig.toml:{complaint}" in line


def test_the_profile_of_message_streams_must_exist() -> None:
    host = hosting(stream_profile="x")
    host.load()
    (problem,) = host.problems
    assert "plugins.mcp.stream_profile: there is no profile 'x': add [plugins.mcp.profiles.x]" in str(problem)


async def test_names_that_match_nothing_are_reported() -> None:
    async with serving({"tools": ["kti_*"], "tags": ["b"]}, strict=False) as client:
        problems = [str(problem) for problem in client.problems]
        assert len(problems) == 2
        assert "profiles.part.tools: 'kti_*' matches nothing" in problems[0]
        assert "profiles.part.tags: 'b' matches nothing" in problems[1]


async def test_no_page_is_empty_before_the_last() -> None:
    settings = {"profiles": {"part": {"tools": ["*_change", "*_write"]}}, "stream_profile": "part"}
    async with connect(make_kit(), hostconfig={"host": {"page_size": 1}, "plugins": {"mcp": settings}}) as client:
        first = await client.request("tools/list")
        second = await client.request("tools/list", {"cursor": first["nextCursor"]})
        assert [tool["name"] for page in (first, second) for tool in page["tools"]] == ["kit_change", "kit_write"]
        assert "nextCursor" not in second
