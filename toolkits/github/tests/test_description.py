"""The judge is a judge: what does not fit GitHub's description is refused, and the description is what was cut out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolkits.github.tests.openapi import cut
from toolkits.github.tests.support.description import (
    FILE,
    Mismatch,
    Operation,
    Request,
    check_answer,
    check_request,
    check_value,
    description,
    operations,
)
from toolkits.github.tests.support.examples import FAULTS, example, mended, names, original
from toolkits.github.tests.support.server import Reply, Rogue
from toolkits.github.tests.support.world import HANDLERS

HEADERS = {
    "Accept": "application/vnd.github+json",
    "Authorization": "Bearer x",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "toolkit-github/0.1.0",
}
POSTED = {**HEADERS, "Content-Type": "application/json"}
ISSUES = "/repos/octocat/Hello-World/issues"
JSON = {"content-type": "application/json; charset=utf-8"}


def request(method: str, target: str, body: Any = None, headers: dict[str, str] = HEADERS) -> Request:
    return check_request(method, target, headers, b"" if body is None else json.dumps(body).encode())


def test_a_request_that_fits_is_told_apart_and_its_parameters_have_types() -> None:
    seen = request("GET", ISSUES + "/1347/comments?per_page=5&page=2")
    assert seen.operation.id == "issues/list-comments"
    assert seen.path == {"owner": "octocat", "repo": "Hello-World", "issue_number": 1347}
    assert seen.query == {"per_page": 5, "page": 2}


def test_a_parameter_of_several_segments_is_decoded_and_does_not_swallow_what_follows() -> None:
    assert request("GET", "/repos/o/r/contents/a%20b/%C3%BC%3F.txt").path["path"] == "a b/ü?.txt"
    assert request("GET", "/repos/o/r/commits/feature%2Fx/check-runs").operation.id == "checks/list-for-ref"
    assert request("GET", "/repos/o/r/commits/feature%2Fx").path["ref"] == "feature/x"
    assert request("GET", "/repos/o/r/releases/latest").operation.id == "repos/get-latest-release"


@pytest.mark.parametrize(
    ("method", "target", "body", "why"),
    [
        ("GET", "/repos/octocat/Hello-World/isues", None, "no operation"),
        ("DELETE", ISSUES + "/1347", None, "no operation"),
        ("GET", ISSUES + "/x1", None, "is not of type 'integer'"),
        ("GET", "/repos/o/r/contents/../../user", None, "leaves its place"),
        ("GET", "/repos/o/r/commits/a%2F..%2Fb", None, "leaves its place"),
        ("GET", "/repos//r", None, "no operation"),
        ("GET", ISSUES + "?state=closd", None, "is not one of"),
        ("GET", ISSUES + "?color=red", None, "takes no query parameter color"),
        ("GET", ISSUES + "?page=1&page=2", None, "or not twice"),
        ("GET", ISSUES + "?per_page=ten", None, "is not of type 'integer'"),
        ("GET", "/notifications?all=yes", None, "is not of type 'boolean'"),
        ("GET", "/search/code", None, "needs the query parameter q"),
        ("GET", ISSUES, {"title": "x"}, "takes no body"),
        ("POST", ISSUES, None, "needs a body"),
        ("POST", ISSUES, {"body": "x"}, "'title' is a required property"),
        ("POST", ISSUES, {"title": "x", "labels": "bug"}, "is not of type 'array'"),
        ("POST", ISSUES, {"title": "x", "colour": "red"}, "unknown members colour"),
        ("PUT", "/repos/o/r/pulls/1/merge", {"merge_method": "quash"}, "is not one of"),
        (
            "POST",
            "/repos/o/r/pulls/1/reviews",
            {"event": "COMMENT", "comments": [{"path": "a"}]},
            "'body' is a required",
        ),
    ],
)
def test_an_invalid_request_is_refused(method: str, target: str, body: Any, why: str) -> None:
    with pytest.raises(Mismatch, match=why):
        request(method, target, body, HEADERS if body is None else POSTED)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"X-GitHub-Api-Version": "2021-01-01"}, "version of the API"),
        ({"X-GitHub-Api-Version": ""}, "version of the API"),
        ({"Accept": "text/html"}, "asks for text/html"),
        ({"User-Agent": "python"}, "user agent"),
        ({"Content-Type": "text/plain"}, "the body is text/plain"),
        ({"Cookie": "a=b"}, "nobody asked for: cookie"),
    ],
)
def test_invalid_headers_are_refused(change: dict[str, str], why: str) -> None:
    with pytest.raises(Mismatch, match=why):
        request("POST", ISSUES, {"title": "x"}, {**POSTED, **change})


def test_a_body_that_is_no_json_is_refused() -> None:
    with pytest.raises(Mismatch, match="is not JSON"):
        check_request("POST", ISSUES, POSTED, b"{'title'}")


def answer(operation: str, status: int, body: Any, headers: dict[str, str] = JSON) -> None:
    check_answer(operations()[operation], status, headers, b"" if body is None else json.dumps(body).encode())


def changed(operation: str, change: Callable[[Any], object]) -> Any:
    body = example(operation)
    change(body)
    return body


@pytest.mark.parametrize(
    ("operation", "status", "body", "why"),
    [
        ("issues/get", 200, {}, "is a required property"),
        ("issues/get", 200, [], "is not of type 'object'"),
        ("issues/get", 200, changed("issues/get", lambda issue: issue.pop("number")), "'number' is a required"),
        ("issues/get", 200, changed("issues/get", lambda issue: issue.update(number="5")), "is not of type 'integer'"),
        ("issues/get", 200, changed("issues/get", lambda issue: issue["user"].pop("login")), "issues/get 200"),
        ("issues/get", 200, changed("issues/get", lambda issue: issue.update(title=None)), "is not of type 'string'"),
        (
            "issues/get",
            200,
            changed("issues/get", lambda issue: issue.update(created_at="now")),
            "is not a 'date-time'",
        ),
        ("issues/get", 200, changed("issues/get", lambda issue: issue.update(html_url="a b")), "is not a 'uri'"),
        ("issues/get", 200, None, "is not JSON"),
        ("issues/get", 204, None, "has no answer 204"),
        ("issues/get", 304, {}, "has no body"),
        ("issues/create", 422, {"message": "x"}, "'documentation_url' is a required property"),
        ("actions/download-job-logs-for-workflow-run", 302, {"a": 1}, "has no body"),
    ],
)
def test_an_invalid_answer_is_refused(operation: str, status: int, body: Any, why: str) -> None:
    with pytest.raises(Mismatch, match=why):
        answer(operation, status, body)


def test_an_answer_that_is_not_called_json_is_refused() -> None:
    with pytest.raises(Mismatch, match="is JSON, not text/html"):
        answer("issues/get", 200, example("issues/get"), {"content-type": "text/html"})


def test_null_is_allowed_where_the_description_says_nullable_and_nowhere_else() -> None:
    answer("issues/get", 200, changed("issues/get", lambda issue: issue.update(closed_at=None, milestone=None)))
    with pytest.raises(Mismatch):
        answer("issues/get", 200, changed("issues/get", lambda issue: issue.update(labels=None)))


async def test_the_server_tells_of_requests_and_answers_that_do_not_fit(github: Any, serve: Any) -> None:
    served = await serve()
    github.script("issues/get", Reply(200, {"number": 1}))
    error = await served.fail("get_issue", repo="octocat/Hello-World", number=1)
    assert error.status_code == 599
    assert [fault.split(":")[0] for fault in github.faults] == ["issues/get 200"]
    github.faults.clear()
    github.script("issues/get", Rogue(b"{}", headers={"Content-Type": "application/json"}))
    assert (await served.fail("get_issue", repo="octocat/Hello-World", number=1)).status_code == 502
    assert github.faults == []


ALL_EXAMPLES = [
    (item.id, status, name)
    for item in operations().values()
    for status in item.responses
    for name in names(item.id, status)
]


def schema(operation: Operation, status: int) -> dict[str, Any]:
    found: dict[str, Any] = operation.responses[status]["content"]["application/json"]["schema"]
    return found


@pytest.mark.parametrize(("operation", "status", "name"), ALL_EXAMPLES)
def test_examples_fit_their_schemas(operation: str, status: int, name: str) -> None:
    check_value(schema(operations()[operation], status), example(operation, status, name), "example")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.operation}:{'.'.join(map(str, fault.place))}")
def test_faults_of_examples_are_still_there(fault: Any) -> None:
    """When GitHub has mended one, its entry goes."""
    value = original(fault.operation, fault.status, fault.name)
    for other in FAULTS:
        if other[:3] == fault[:3] and other is not fault:
            value = mended(value, other)
    with pytest.raises(Mismatch):
        check_value(schema(operations()[fault.operation], fault.status), value, "example")


def test_the_world_answers_every_operation_that_was_cut_out_and_no_other() -> None:
    assert set(operations()) == set(HANDLERS) == set(cut.OPERATIONS)


def test_cutting_again_gives_the_same_bytes() -> None:
    assert cut.text({**cut.cut(description()), "info": description()["info"]}) == FILE.read_text(encoding="utf-8")


def test_the_cut_names_its_source_and_the_licence_is_beside_it() -> None:
    assert description()["info"]["x-cut-from"] == {
        "package": "@octokit/openapi",
        "version": "23.0.2",
        "file": "generated/api.github.com.json",
        "sha256": "829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a",
        "license": "MIT",
    }
    assert (FILE.parent / "LICENSE").read_text().startswith("MIT License Copyright (c) 2020 Octokit contributors")


def small_package(folder: Path) -> Path:
    schemas = {
        "basic-error": {"type": "object", "description": "prose"},
        "validation-error": {"type": "object"},
        "used": {"properties": {"description": {"$ref": "#/components/schemas/deep"}}},
        "deep": {"type": "string", "example": {"description": "data"}},
        "unused": {"type": "string"},
    }
    used = {"operationId": "a/b", "summary": "prose", "responses": {"200": {"$ref": "#/components/schemas/used"}}}
    (folder / "generated").mkdir()
    paths = {"/a": {"get": used, "post": {"operationId": "c/d"}}}
    text = json.dumps({"openapi": "3.0.3", "info": {}, "paths": paths, "components": {"schemas": schemas}})
    (folder / "generated" / "api.github.com.json").write_text(text)
    (folder / "package.json").write_text('{"name": "n", "version": "1", "license": "MIT"}')
    (folder / "LICENSE").write_text("words")
    return folder


def test_cutting_keeps_what_is_referred_to_and_drops_prose_and_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = small_package(tmp_path)
    whole = json.loads((package / "generated" / "api.github.com.json").read_text())
    result = cut.cut(whole, ("a/b",))
    assert result["paths"] == {
        "/a": {"get": {"operationId": "a/b", "responses": {"200": {"$ref": "#/components/schemas/used"}}}}
    }
    assert result["components"]["schemas"] == {
        "basic-error": {"type": "object"},
        "validation-error": {"type": "object"},
        "used": {"properties": {"description": {"$ref": "#/components/schemas/deep"}}},
        "deep": {"type": "string", "example": {"description": "data"}},
    }
    with pytest.raises(SystemExit, match="no operation e/f"):
        cut.cut(whole, ("e/f",))
    monkeypatch.setattr(cut, "HERE", tmp_path / "out")
    monkeypatch.setattr(cut, "cut", lambda _: {"info": {}})
    (tmp_path / "out").mkdir()
    cut.main(package)
    assert (tmp_path / "out" / "LICENSE").read_text() == "words"
    about = json.loads((tmp_path / "out" / "description.json").read_text())["info"]["x-cut-from"]
    assert (about["package"], about["version"]) == ("n", "1")
