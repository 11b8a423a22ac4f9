"""Adapters of libraries that are not there, or not imported: they cost nothing and know nothing."""

from __future__ import annotations

from tests.plugins.errors_vendors.conftest import Program

SLUGS = ["_google_api_client", "_graphql", "_microsoft_graph", "_slack_sdk", "_http"]
OF_HTTP = ["pegboard_plugins.errors_http.http_errors"]


def test_with_none_of_the_libraries(program_without: Program) -> None:
    told = program_without.fail("plain")
    assert program_without.slugs == SLUGS
    assert told["message"] == "It failed unexpectedly."
    assert (told["loaded"], told["explained"]) == ([], OF_HTTP)


def test_with_all_of_them_none_is_imported_by_the_adapters(fresh: Program) -> None:
    told = fresh.fail("plain")
    assert fresh.slugs == SLUGS
    assert told["message"] == "It failed unexpectedly."
    assert (told["loaded"], told["explained"]) == ([], OF_HTTP)


def test_a_library_that_is_imported_wakes_its_adapter_alone(fresh: Program) -> None:
    told = fresh.fail("plain", loads="slack_sdk")
    assert told["message"] == "It failed unexpectedly."
    assert told["loaded"] == ["slack_sdk"]
    assert told["explained"] == [*OF_HTTP, "pegboard_plugins.errors_slack.slack_errors"]
