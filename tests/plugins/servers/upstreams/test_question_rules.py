"""Questions of a mounted server: in its own name, with visible text, safe links, and as the operator allows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pegboard import ClientCapabilityError, Context, Host, Toolkit, UpstreamError
from pegboard.plugin import ProtocolError
from pegboard.types import Question
from pegboard_plugins.servers.upstreams.questions import QuestionRules
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.upstream_errors import request_error
from pegboard_testing import connect
from tests.plugins.servers.upstreams import peer_kit
from tests.plugins.servers.upstreams.mounted_hosts import mounting_host
from tests.plugins.servers.upstreams.mounts import ERAS, mounting
from tests.plugins.servers.upstreams.test_mounted import both, far

FORM = {"requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
ELICIT, SAMPLE = "elicitation/create", "sampling/createMessage"
ALL: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}, "roots": {}}


def sample_params(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}], "maxTokens": 9, **more}


def page(url: str, message: str = "Open this") -> dict[str, Any]:
    return {"mode": "url", "message": message, "url": url}


class RawQuestion:
    """A question that a server sends without the checks of its own host."""

    def __init__(self, capability: str, method: str, params: dict[str, Any]) -> None:
        self._capability, self._question = capability, Question(method, params)

    def needs(self) -> str:
        return self._capability

    def question(self) -> Question:
        return self._question

    def parse(self, answer: Any) -> Any:
        return answer


kit = Toolkit("kit", prefix=False)


@kit.tool
async def ask(context: Context[Any], capability: str, method: str, params: dict[str, Any]) -> str:
    """Ask a question unchanged."""
    return str((await context.ask(q=RawQuestion(capability, method, params)))["q"])


@both
@far
@pytest.mark.parametrize(
    ("question", "seen", "answer"),
    [
        (("elicitation.form", ELICIT, {"message": "Who?", **FORM}), {"message": "far asks: Who?"}, {"name": "Ann"}),
        (("elicitation.url", ELICIT, page("https://a.example/")), {"message": "far asks: Open this"}, True),
        (
            ("sampling", SAMPLE, sample_params("Hi", systemPrompt="Be brief.", includeContext="allServers")),
            {"systemPrompt": "far asks: Be brief.", "includeContext": None},
            "Paris",
        ),
        (("sampling", SAMPLE, sample_params("Hi")), {"systemPrompt": "far asks this."}, "Paris"),
    ],
)
async def test_a_question_names_its_server(revision: str, far: str, question: Any, seen: Any, answer: Any) -> None:
    capabilities: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}
    names = ("capability", "method", "params")
    plugin = mounting_host(far, kit, sampling=True)
    async with connect(plugin, revision=revision, capabilities=capabilities, answers=[answer]) as client:
        await client.call("ask", dict(zip(names, question, strict=True)))
        assert {name: client.asked[0].params.get(name) for name in seen} == seen


@both
@far
async def test_a_refused_question_is_only_logged(revision: str, far: str, caplog: pytest.LogCaptureFixture) -> None:
    deceptive = {"capability": "elicitation.form", "method": ELICIT, "params": {"message": "\u202eWho?", **FORM}}
    async with connect(mounting_host(far, kit), revision=revision, answers=[{"name": "Ann"}]) as client:
        assert (await client.call("ask", deceptive)).is_error
        assert client.asked == []
    assert "'message' has U+202E" in caplog.text


def rules(**config: Any) -> QuestionRules:
    return QuestionRules("weather", ServerConfig(command="x", **{"sampling": True, **config}))


def client_with(revision: str = "2025-11-25", capabilities: Any = None) -> Any:
    return SimpleNamespace(client=SimpleNamespace(capabilities=capabilities or ALL, revision=revision))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (ELICIT, {"message": "\x1b[2K\rpegboard: your password", **FORM}),
        (ELICIT, {"message": "to \u202egro.elpmaxe", **FORM}),
        (ELICIT, {"message": "x" * 20_000, **FORM}),
        (ELICIT, {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string", "title": "\u200b"}}}}),
        (ELICIT, {"message": "m", "requestedSchema": {"properties": {"\u2066": {"type": "string"}}}}),
        (ELICIT, {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string", "enum": ["\x07"]}}}}),
        (ELICIT, page("https://a.example", "\u202e")),
        (SAMPLE, sample_params("\x1b[2J")),
        (SAMPLE, sample_params("m", systemPrompt="\u202e")),
        (SAMPLE, sample_params("m", systemPrompt=5)),
        ("tools/list", {}),
        (None, {}),
        (ELICIT, {"message": "m"}),
        (ELICIT, {"message": "m", "requestedSchema": {"properties": {"a": {}}}}),
        (ELICIT, {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string", "oneOf": [1]}}}}),
        (ELICIT, {"mode": "url", "message": "m"}),
        (ELICIT, {"mode": "other", "message": "m"}),
        (ELICIT, {"mode": "url", "url": "https://example.com"}),
        (SAMPLE, {"messages": "x"}),
        (SAMPLE, {"messages": [{"content": 5}]}),
        *(
            (ELICIT, page(url))
            for url in (
                "javascript:alert(1)",
                "http://a.example/",
                "http://127.0.0.1.a.example/",
                "https://bank.example@a.example/",
                "https://bank.example\\@a.example/",
                "https://b\u0430nk.example/",
                "https://a.example/ x",
                "https:///x",
                "https://[",
                "file:///etc/passwd",
                "data:text/html,x",
                "//a.example",
                "",
            )
        ),
    ],
)
def test_a_question_that_is_invalid_or_could_deceive_the_person_is_refused(method: Any, params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        rules().question(client_with(), method, params)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/x?y=1#z",
        "HTTPS://a.example",
        *map("http://{}:80/x".format, ("localhost", "[::1]", "127.0.0.9")),
    ],
)
def test_a_person_may_open_pages_with_https_and_of_this_machine(url: str) -> None:
    assert rules().question(client_with(), ELICIT, page(url)).params["url"] == url


@pytest.mark.parametrize("capabilities", [{"sampling": {}}, {"sampling": {"context": {}}}])
def test_context_of_the_client_is_requested_only_if_the_client_declares_it(capabilities: Any) -> None:
    question = rules().question(
        client_with(capabilities=capabilities), SAMPLE, sample_params("m", includeContext="thisServer")
    )
    assert ("includeContext" in question.params) == ("context" in capabilities["sampling"])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({}, {"elicitation", "roots"}),
        ({"sampling": True}, {"elicitation", "roots", "sampling"}),
        ({"questions": False, "sampling": True}, {"sampling"}),
        ({"questions": False}, set()),
    ],
)
async def test_only_questions_that_the_operator_allows_are_declared(era: str, config: Any, names: set[str]) -> None:
    far = Host({"host": {"autoload": False}}, toolkits={"peer": peer_kit.kit})
    section = {"object": far, "prefix": False, "revision": era, **config}
    async with mounting({"far": section}, capabilities=ALL) as client:
        assert (await client.call("declared")).value.keys() == names


@pytest.mark.parametrize(
    ("method", "params"), [(ELICIT, page("https://a.example")), (SAMPLE, sample_params("m")), ("roots/list", {})]
)
def test_a_question_that_the_operator_forbids_names_the_setting(method: str, params: dict[str, Any]) -> None:
    key = "sampling" if method == SAMPLE else "questions"
    with pytest.raises(ProtocolError, match=rf"set {key} = true in \[plugins\.upstreams\.servers\.weather\]"):
        rules(questions=False, sampling=False).question(client_with(), method, params)


def failed(error: ProtocolError, context: Any = None, **config: Any) -> Any:
    return request_error(rules(**config), context or client_with(), "tools/call", {}, error)


def requires(*pages: Any) -> ProtocolError:
    return ProtocolError(-32042, "Open it first", {"elicitations": [*pages]})


def test_an_error_that_requires_pages_names_the_server() -> None:
    params = {**page("https://a.example"), "elicitationId": "1"}
    assert failed(requires(params)).data == {"elicitations": [{**params, "message": "weather asks: Open this"}]}


@pytest.mark.parametrize(
    ("pages", "context", "config"),
    [
        ([page("javascript:alert(1)")], None, {}),
        ([page("https://a.example", "\u202e")], None, {}),
        ([{"mode": "form", "message": "m", **FORM}], None, {}),
        ([5], None, {}),
        ([page("https://a.example")], None, {"questions": False}),
        ([page("https://a.example")], client_with(capabilities={"elicitation": {}}), {}),
        ([page("https://a.example")], client_with("2026-07-28"), {}),
    ],
)
@pytest.mark.requirement("ASK-17")
def test_an_error_that_requires_pages_passes_as_a_question_does(pages: Any, context: Any, config: Any) -> None:
    assert isinstance(failed(requires(*pages), context, **config), UpstreamError)


def test_a_capability_that_the_operator_forbids_is_not_missed_from_the_client() -> None:
    missing = ProtocolError(-32021, "missing", {"requiredCapabilities": {"sampling": {}}})
    assert "set sampling = true" in str(failed(missing, sampling=False).developer_message)
    assert isinstance(failed(missing, client_with(capabilities={"roots": {}}), sampling=False), ClientCapabilityError)
