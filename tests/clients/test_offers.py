"""The official SDK's clients read, get and complete what is offered, and follow progress and the log, in every era."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.clients.conftest import CLIENTS, Client, Place
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

CODE = "print('größer')"
REVIEW = {"type": "ref/prompt", "name": "review"}
DOCUMENT = {"type": "ref/resource", "uri": "doc://{name}"}

READS = [
    "doc://static",
    "doc://m%C3%BCller",
    "doc://gone",
    "doc://a%2Fb",
    "num://7",
    "num://seven",
    "file:///a/b.txt?line=3",
    "path://root/x/y",
    "many://all",
    "nothing://here",
    "odd://here",
    "unknown://here",
]

ALL = {
    "code": CODE,
    "language": "c",
    "strict": "true",
    "depth": "3",
    "tone": "blunt",
    "level": "high",
    "files": '["a"]',
}

GETS: dict[str, tuple[str, dict[str, str] | None]] = {
    "some": ("review", {"code": CODE}),
    "all": ("review", ALL),
    "none": ("review", None),
    "wrong": ("review", {"code": "", "depth": "deep"}),
    "messages": ("messages", None),
    "raw": ("raw", {}),
    "odd role": ("odd_role", {}),
}

COMPLETIONS: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str] | None]] = {
    "chosen": (REVIEW, {"name": "language", "value": "py"}, {"code": "c", "level": "high"}),
    "nothing chosen": (REVIEW, {"name": "language", "value": ""}, None),
    "many": (REVIEW, {"name": "code", "value": "x"}, None),
    "few values": (REVIEW, {"name": "tone", "value": "b"}, None),
    "free": (REVIEW, {"name": "depth", "value": "1"}, None),
    "variable": (DOCUMENT, {"name": "name", "value": "a"}, {}),
    "crashed": (DOCUMENT, {"name": "name", "value": "fail"}, None),
    "unknown prompt": ({"type": "ref/prompt", "name": "nobody"}, {"name": "a", "value": ""}, None),
    "unknown argument": (REVIEW, {"name": "colour", "value": ""}, None),
}

ANNOTATIONS = {"audience": ["user", "assistant"], "priority": 0.5}
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def is_modern(client: Client) -> bool:
    return client[1] != "legacy"


def start(place: Place, transport: str, client: Client, scenario: str, **plan: Any) -> Run:
    return (place.http if transport == "http" else place.stdio)(client, scenario, **plan)


@pytest.fixture(scope="module")
def run(whole_place: Place, transport: str, client: Client) -> Run:
    """What one client found."""
    return start(whole_place, transport, client, "offered", reads=READS, gets=GETS, completions=COMPLETIONS)


def contents(run: Run, uri: str) -> list[dict[str, Any]]:
    """What was read."""
    found: list[dict[str, Any]] = run.said["reads"][uri]["result"]["contents"]
    return found


def error(run: Run, kind: str, key: str) -> dict[str, Any]:
    """What was refused."""
    found: dict[str, Any] = run.said[kind][key]["error"]
    return found


def annotated(item: dict[str, Any]) -> bool:
    """Whether what content is annotated with has come through; the lines of the SDK know different parts of it."""
    return {key: item["annotations"][key] for key in ANNOTATIONS} == ANNOTATIONS


def test_resources_are_described(run: Run) -> None:
    (static,) = [one for page in run.said["resources"] for one in page["resources"] if one["uri"] == "doc://static"]
    assert (static["name"], static["title"], static["size"], static["mimeType"]) == (
        "static",
        "Static",
        6,
        "text/plain",
    )
    assert annotated(static)
    assert static["icons"][0]["sizes"] == ["48x48", "any"]
    assert static["_meta"]["com.example/key"] == {"deep": 1}


def test_templates_are_listed_apart_from_resources(run: Run) -> None:
    templates = [one for page in run.said["resource_templates"] for one in page["resourceTemplates"]]
    uris = ["doc://{name}", "file:///{+path}{?line}", "num://{number}", "path://root{/parts*}"]
    assert sorted(one["uriTemplate"] for one in templates) == uris
    (document,) = [one for one in templates if one["uriTemplate"] == "doc://{name}"]
    assert document["title"] == "Documents"
    assert annotated(document)
    assert not [one for page in run.said["resources"] for one in page["resources"] if "{" in one["uri"]]


def test_resources_are_read(run: Run) -> None:
    assert [one["text"] for one in contents(run, "doc://static")] == ["static"]
    one, two = contents(run, "many://all")
    assert (one["uri"], one["text"]) == ("many://all/1", "one")
    assert (two["uri"], base64.b64decode(two["blob"])) == ("many://all/2", b"2")


def test_templates_are_read_with_their_variables(run: Run) -> None:
    (document,) = contents(run, "doc://m%C3%BCller")
    assert document["text"] == "müller for doc://{name}"
    assert document["mimeType"] == "text/x"
    assert json.loads(contents(run, "num://7")[0]["text"]) == {"number": 7}
    assert contents(run, "file:///a/b.txt?line=3")[0]["text"] == "a/b.txt:3"
    assert json.loads(contents(run, "path://root/x/y")[0]["text"]) == ["x", "y"]


@pytest.mark.parametrize("uri", ["doc://gone", "doc://a%2Fb", "nothing://here", "unknown://here"])
def test_what_is_not_there_is_not_found(run: Run, client: Client, uri: str) -> None:
    refused = error(run, "reads", uri)
    assert refused["code"] == (-32602 if is_modern(client) else -32002)
    assert refused["data"] == {"uri": uri}


def test_what_cannot_be_read_is_an_error(run: Run) -> None:
    assert error(run, "reads", "num://seven")["code"] in (-32602, -32002)
    assert error(run, "reads", "odd://here")["code"] == -32603
    assert "canary" not in json.dumps(run.said)


def test_prompts_are_described(run: Run) -> None:
    (review,) = [one for page in run.said["prompts"] for one in page["prompts"] if one["name"] == "review"]
    assert [one["name"] for one in review["arguments"]] == [*ALL]
    assert [one["name"] for one in review["arguments"] if one.get("required")] == ["code"]
    assert (review["title"], review["arguments"][0]["description"]) == ("Review", "the code")


def test_prompts_take_arguments(run: Run) -> None:
    (some,) = run.said["gets"]["some"]["result"]["messages"]
    assert some["content"]["text"] == f"{CODE}|python|False|1|kind|low|[]"
    (full,) = run.said["gets"]["all"]["result"]["messages"]
    assert full["content"]["text"] == f"{CODE}|c|True|3|blunt|high|['a']"


def test_prompts_of_wrong_arguments_are_refused(run: Run) -> None:
    assert error(run, "gets", "none")["code"] == -32602
    assert "code" in error(run, "gets", "none")["message"]
    assert error(run, "gets", "wrong")["code"] == -32602
    assert "depth" in error(run, "gets", "wrong")["message"]
    assert error(run, "gets", "odd role")["code"] == -32603


def test_prompts_hold_content_of_every_kind(run: Run) -> None:
    messages = run.said["gets"]["messages"]["result"]["messages"]
    assert [one["content"]["type"] for one in messages] == [
        "text",
        "image",
        "audio",
        "resource_link",
        "resource",
        "text",
    ]
    assert {one["role"] for one in messages} == {"assistant"}
    assert all(annotated(one["content"]) for one in messages[:-1])
    assert messages[1]["content"]["data"] == "+//+"
    assert messages[4]["content"]["resource"]["blob"] == "+//+"
    raw = run.said["gets"]["raw"]["result"]["messages"]
    assert [one["role"] for one in raw] == ["assistant", "user", "user"]


def completed(run: Run, key: str) -> dict[str, Any]:
    found: dict[str, Any] = run.said["completions"][key]["result"]["completion"]
    return found


def test_arguments_are_completed_by_what_is_chosen(run: Run) -> None:
    assert completed(run, "chosen")["values"] == ["py|c|high"]
    assert completed(run, "nothing chosen")["values"] == ["|None|none"]


def test_completion_ends_at_a_hundred(run: Run) -> None:
    many, variable = completed(run, "many"), completed(run, "variable")
    assert (len(many["values"]), many["total"], many["hasMore"]) == (100, 1000, True)
    assert (variable["values"][0], len(variable["values"]), variable["hasMore"]) == ("a-000", 100, True)


def test_few_values_are_completed_by_themselves(run: Run) -> None:
    assert completed(run, "few values")["values"] == ["blunt"]
    assert completed(run, "free")["values"] == []


def test_completion_is_refused(run: Run) -> None:
    assert error(run, "completions", "unknown prompt")["code"] == -32602
    assert error(run, "completions", "unknown argument")["code"] == -32602
    assert error(run, "completions", "crashed")["code"] == -32603


def test_progress_of_threads_and_fractions(whole_place: Place, transport: str, client: Client) -> None:
    calls = {"halves": ("fixture_count_sync", {"to": 3}), "back": ("fixture_stumble", {})}
    run = start(whole_place, transport, client, "reported", calls=calls)
    assert run.said["halves"]["progress"] == [[0.5, 3, None], [1, 3, None], [1.5, 3, None]]
    assert run.said["back"]["progress"] == [[1, None, None], [2, None, None]]  # what does not go up is not said


LOGGING = ("asking_tell", {"notifications": [["notifications/message", {"level": one, "data": one}] for one in LEVELS]})


def check_log(run: Run, client: Client) -> None:
    """A session begins at "info"; in 2026-07-28 nothing is said to a client that asks for nothing."""
    assert run.said.pop("None") == ([] if is_modern(client) else LEVELS[1:])
    assert run.said == {level: LEVELS[place:] for place, level in enumerate(LEVELS)}


def test_log_messages_from_a_level_on(whole_place: Place, transport: str, client: Client) -> None:
    check_log(start(whole_place, transport, client, "logged", levels=LEVELS, call=LOGGING), client)


def test_each_of_several_clients_has_its_own_level(whole_place: Place) -> None:
    """They are connected to one server at the same time, and use the same ids."""
    with whole_place.serving() as server, ThreadPoolExecutor(len(CLIENTS)) as pool:

        def one(client: Client) -> Run:
            return whole_place.connect(client, "logged", server, levels=LEVELS, call=LOGGING)

        for client, run in zip(CLIENTS, pool.map(one, CLIENTS), strict=True):
            check_log(run, client)
