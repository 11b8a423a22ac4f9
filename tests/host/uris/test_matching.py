"""Matching URIs: an accepted template returns exactly the values that a URI was expanded from."""

from __future__ import annotations

from typing import Any

import pytest
import uritemplate
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pegboard.uris.matching import MAX_URI_CHARACTERS, Matcher
from pegboard.uris.template import OPERATORS, UriTemplateError, parse_template, variables


def match(template: str, uri: str) -> dict[str, Any] | None:
    return Matcher(template).match(uri)


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("docs://{name}", "docs://a%20b", {"name": "a b"}),
        ("docs://{name}", "docs://%c3%bC", {"name": "ü"}),
        ("repo://{owner}/{name}", "repo://ada/engine", {"owner": "ada", "name": "engine"}),
        ("t://{x}:{y}", "t://1%3A1:2", {"x": "1:1", "y": "2"}),
        ("t://{all*}", "t://1,2,3", {"all": ["1", "2", "3"]}),
        ("t://x{/path*}", "t://x/1/2/3", {"path": ["1", "2", "3"]}),
        ("t://x{/path*}/end", "t://x/end/end", {"path": ["end"]}),
        ("t://x{/path*}/{name}", "t://x/1/2/3", {"path": ["1", "2"], "name": "3"}),
        ("t://x{;a,b}", "t://x;a=1;b=2", {"a": "1", "b": "2"}),
        ("t://x{?q,lang}", "t://x?lang=en&q=a%20b", {"q": "a b", "lang": "en"}),
        ("t://x{?q}", "t://x?q=", {"q": ""}),
        ("t://x{?a}{&b}", "t://x?b=2&a=1", {"a": "1", "b": "2"}),
        ("t://x{#at}", "t://x#line/3?", {"at": "line/3?"}),
        ("t://{+url}", "t://https://example.org/?q=1#x", {"url": "https://example.org/?q=1#x"}),
        ("t://{+path}{?q}{#at}", "t://a/b?q=1#x", {"path": "a/b", "q": "1", "at": "x"}),
        ("file:///{+path}", "file:///etc%2Fhosts", {"path": "etc/hosts"}),
        ("file:///{+path}", "file:///a/.../..b//c/", {"path": "a/.../..b//c/"}),
    ],
)  # fmt: skip
def test_a_uri_matches_with_its_values(template: str, uri: str, values: dict[str, Any]) -> None:
    assert match(template, uri) == values


@pytest.mark.parametrize(
    ("template", "uris"),
    [
        ("docs://{name}", "docs:// docs://a/b docs://a?b docs://a#b DOCS://a xdocs://a docs://a% docs://a%4g docs://{a}"),
        ("docs://{name}", "docs://%FF docs://%C0%AF docs://%ED%A0%80"),
        ("t://x{/path*}", "t://x//1 t://x/"),
        ("t://x{;a,b}", "t://x;b=2;a=1 t://x;ab"),
        ("t://x{?q}", "t://x? t://x?q t://x?q=1&q=2 t://x?q=1& t://x?other=1 t://x&q=1"),
        ("t://{+path}?v=1{&q*}", "t://a?v=1&q=1?v=1&q=2"),
    ],
)  # fmt: skip
def test_a_uri_that_a_template_never_expands_to_does_not_match(template: str, uris: str) -> None:
    assert {uri: match(template, uri) for uri in uris.split()} == dict.fromkeys(uris.split())
    assert match("docs://{name}", "docs://a\n") is match("docs://{name}", "docs://a b") is None


HOSTILE = ["a%00b", "a%2Fb", "a%2fb", "%2F", "%2Fetc%2Fpasswd", "..%5C..", "a%2F..", "..", "%2e%2e", ".%2E"]


@pytest.mark.requirement("RES-07")
@pytest.mark.parametrize(
    ("template", "before"),
    [
        ("t://{v}", "t://"),
        ("t://x{/v*}", "t://x/"),
        ("t://x{.v}", "t://x.a"),
        ("t://x{;v*}", "t://x;v="),
        ("t://x{?v*}", "t://x?v="),
    ],
)
def test_a_value_never_becomes_a_path(template: str, before: str) -> None:
    hostile = HOSTILE[:7] if "." in template else HOSTILE  # a label begins with a dot, and may contain two
    assert match(template, before + "fine") is not None
    assert [text for text in hostile if match(template, before + text) is not None] == []


@pytest.mark.requirement("RES-07")
@pytest.mark.parametrize(("template", "before"), [("f:///{+path}", "f:///"), ("f:///x{#path}", "f:///x#")])
def test_a_path_stays_below_its_folder(template: str, before: str) -> None:
    hostile = (
        ".. ../x x/.. x/../y %2e%2e/x x/%2E%2E/y x%2F..%2Fy x%5C..%5Cy x/..%5Cy /etc/passwd %2Fetc %5C%5Chost C:/x "
        "c:%5Cx a%00b //host/x"
    )
    for path in ["a/b", "a/./b", "http://x/y", "~x", "a.."]:
        assert match(template, before + path) == {"path": path}
    assert [path for path in hostile.split() if match(template, before + path) is not None] == []


@pytest.mark.requirement("RES-12")
@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("t://{a}{b}", "{a} and {b} are ambiguous: separate them by a reserved character, as in {a}/{b}"),
        ("t://{name}{.ext}", "{name} and {ext} are ambiguous"),
        ("t://{+a}/{+b}", "{+a} and {+b} are ambiguous: only one variable may span several segments"),
        ("t://{+a,b}", "{+a,b} is ambiguous, since a value may contain ',': use {/...}"),
        ("t://x{#at}/end", "{#at} is not at the end of the template"),
        ("t://{a:3}", "{a:3} matches only the beginning of a value: use {a}"),
        ("t://{a}/{a}", "duplicate variable 'a'"),
        ("t://x?a=1{?b}", "{?b} begins a second query: use {&...}"),
        ("t://x{&b}", "{&b} continues a query that does not exist: use {?...}"),
        ("{+scheme}://x", "missing scheme"),
        ("t:{", "invalid character '{' at position 3"),
        ("t:{}", "invalid variable '' in {}"),
        ("t:{a}\n", "invalid character '\\n' at position 6"),
    ],
)
def test_an_invalid_or_ambiguous_template_is_rejected_with_the_fix(template: str, reason: str) -> None:
    with pytest.raises(UriTemplateError) as rejected:
        Matcher(template)
    assert reason in str(rejected.value)


def test_the_template_with_more_literal_text_comes_first() -> None:
    templates = ["t://{+p}", "t://{a}", "t://users/{id}", "t://{kind}/{id}", "t://x{/all*}", "t://{a}?v=1", "t://{z}"]
    ordered = sorted(map(Matcher, templates), key=lambda matcher: matcher.rank)
    assert [matcher.template for matcher in ordered] == [
        "t://users/{id}", "t://{a}?v=1", "t://{kind}/{id}", "t://{a}", "t://{z}", "t://x{/all*}", "t://{+p}",
    ]  # fmt: skip


def test_a_long_uri_is_matched_without_backtracking() -> None:
    long = "t://" + "a/" * (MAX_URI_CHARACTERS // 2 - 3)
    matcher = Matcher("t://{+path}/{x}/{y}/{z}!")
    assert matcher.match(long + "!") is None
    assert matcher.match(long + "a!") is not None
    assert matcher.match("t://" + "a" * MAX_URI_CHARACTERS + "/1/2/3!") is None


PIECES = st.one_of(
    st.sampled_from(["/", "/", "-", "x", ".", ":", ",", "?k=1", "%41", "é", ";a", "&", "="]),
    st.builds(
        lambda operator, names: "{" + operator + ",".join(names) + "}",
        st.sampled_from(sorted(OPERATORS)),
        st.lists(
            st.builds(str.__add__, st.sampled_from(["a", "b", "c", "ab"]), st.sampled_from(["", "*"])),
            min_size=1,
            max_size=2,
        ),
    ),
)
TEMPLATES = st.lists(PIECES, min_size=1, max_size=6).map(lambda pieces: "t:" + "".join(pieces))
TEXTS = st.text(st.sampled_from("aé-.,:;=&?#/%2F \\\0"), max_size=5) | st.sampled_from(
    ["..", "a/../b", "/a", "%2F", "?a=1", "x&b=2", "y#c"]
)
PLAIN = st.text(st.sampled_from("abcü "), min_size=1, max_size=4)


def compiled(template: str) -> Matcher:
    try:
        return Matcher(template)
    except UriTemplateError:
        assume(False)
        raise


def expand(template: str, values: dict[str, Any]) -> str:
    return uritemplate.expand(template.replace("é", "%C3%A9"), values)


def values_for(template: str, draw: st.DataObject, texts: st.SearchStrategy[str]) -> dict[str, Any]:
    lists = st.lists(texts, min_size=1, max_size=3)
    return {
        variable.name: draw.draw(lists if variable.explode else texts)
        for variable in variables(parse_template(template))
    }


@pytest.mark.requirement("RES-12")
@settings(max_examples=40)
@given(TEMPLATES, st.data())
def test_plain_values_that_are_expanded_are_matched(template: str, data: st.DataObject) -> None:
    matcher = compiled(template)
    values = values_for(template, data, PLAIN)
    assert matcher.match(expand(template, values)) == values


@settings(max_examples=40)
@given(TEMPLATES, st.data())
def test_any_values_that_are_expanded_are_matched_or_the_uri_is_rejected(template: str, data: st.DataObject) -> None:
    matcher = compiled(template)
    values = values_for(template, data, TEXTS)
    uri = expand(template, values)
    matched = matcher.match(uri)
    if matched is not None and ("{+" in template or "{#" in template) and "%" in str(values):
        assert expand(template, matched) == uri  # "%22" is not encoded there: two values, one URI (RFC 6570, 3.2.3)
    else:
        assert matched is None or matched == values


@settings(max_examples=40)
@given(TEMPLATES, st.text(st.sampled_from("abct:/?&=;,.-#%2Fé"), max_size=12))
def test_a_uri_that_matches_is_expanded_from_its_values(template: str, rest: str) -> None:
    matcher = compiled(template)
    values = matcher.match("t:" + rest)
    if values is not None:
        assert matcher.match(expand(template, values)) == values
        flat = [text for value in values.values() for text in ([value] if isinstance(value, str) else value)]
        assert not any("\0" in text or ".." in text.split("/") or text.startswith("/") for text in flat)


@pytest.mark.requirement("RES-06")
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_string_makes_the_matcher_fail(template: str, uri: str) -> None:
    for text in (template, f"t:{template}", f"t:{{{template}}}"):
        try:
            Matcher(text).match(uri)
        except UriTemplateError:
            continue
