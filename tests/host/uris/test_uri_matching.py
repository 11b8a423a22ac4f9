"""Matching URIs: each gives back what it was made of, or nothing; what would have to be guessed is refused at once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pegboard.uris.matching import MAX_URI_CHARACTERS, Matcher
from pegboard.uris.template import OPERATORS, UriTemplateError, expand, parse


def match(template: str, uri: str) -> dict[str, Any] | None:
    return Matcher(template).match(uri)


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("docs://{name}", "docs://readme", {"name": "readme"}),
        ("docs://{name}", "docs://a%20b", {"name": "a b"}),
        ("docs://{name}", "docs://%C3%BC", {"name": "ü"}),
        ("docs://{name}", "docs://%c3%bc", {"name": "ü"}),
        ("docs://{name}", "docs://ü", {"name": "ü"}),
        ("docs://{name}", "docs://a..b", {"name": "a..b"}),
        ("docs://{name}", "docs://%252F", {"name": "%2F"}),
        ("docs://{name}", "docs://1+1", {"name": "1+1"}),
        ("docs://ü/{name}", "docs://%C3%BC/a", {"name": "a"}),
        ("docs://ü/{name}", "docs://%c3%bc/a", {"name": "a"}),
        ("users://{email}", "users://ada@example.org", {"email": "ada@example.org"}),
        ("users://{email}", "users://ada%40example.org", {"email": "ada@example.org"}),
        ("t://{x}/{y}", "t://1/2", {"x": "1", "y": "2"}),
        ("t://{x}:{y}", "t://1:2", {"x": "1", "y": "2"}),
        ("t://{x}:{y}", "t://1%3A1:2", {"x": "1:1", "y": "2"}),
        ("t://{x,y}", "t://1,2", {"x": "1", "y": "2"}),
        ("t://{all*}", "t://1,2,3", {"all": ["1", "2", "3"]}),
        ("t://{all*}", "t://1", {"all": ["1"]}),
        ("t://x{.ext}", "t://x.tar.gz", {"ext": "tar.gz"}),
        ("t://x{/a,b}", "t://x/1/2", {"a": "1", "b": "2"}),
        ("t://x{/path*}", "t://x/1/2/3", {"path": ["1", "2", "3"]}),
        ("t://x{/path*}", "t://x", {}),
        ("t://x{/path*}/end", "t://x/end/end", {"path": ["end"]}),
        ("t://x{;a,b}", "t://x;a=1;b=2", {"a": "1", "b": "2"}),
        ("t://x{;a,b}", "t://x;b=2", {"b": "2"}),
        ("t://x{;a}", "t://x;a", {"a": ""}),
        ("t://x{;a*}", "t://x;a=1;a;a=3", {"a": ["1", "", "3"]}),
        ("t://x{;a*}", "t://x", {}),
        ("t://x{?q,lang}", "t://x?lang=en&q=a%20b", {"q": "a b", "lang": "en"}),
        ("t://x{?q,lang}", "t://x?q=", {"q": ""}),
        ("t://x{?q}", "t://x", {}),
        ("t://x{?q}", "t://x?q=a=b:c", {"q": "a=b:c"}),
        ("t://x{?tag*}", "t://x?tag=a&tag=b", {"tag": ["a", "b"]}),
        ("t://x{?a}{&b}", "t://x?b=2&a=1", {"a": "1", "b": "2"}),
        ("t://x?v=1{&q}", "t://x?v=1&q=2", {"q": "2"}),
        ("t://x?v=1{&q}", "t://x?v=1", {}),
        ("t://x{#at}", "t://x#line/3?", {"at": "line/3?"}),
        ("t://x{#at}", "t://x", {}),
        ("t://{+path}", "t://a/b/c", {"path": "a/b/c"}),
        ("t://{+path}", "t://a%2Fb", {"path": "a/b"}),
        ("t://{+url}", "t://https://example.org/?q=1#x", {"url": "https://example.org/?q=1#x"}),
        ("t://{+path}/edit", "t://a/edit/edit", {"path": "a/edit"}),
        ("t://{+path}/{name}", "t://a/b/c", {"path": "a/b", "name": "c"}),
        ("t://{+path}{?q}{#at}", "t://a/b?q=1#x", {"path": "a/b", "q": "1", "at": "x"}),
        ("file:///{+path}", "file:///etc/hosts", {"path": "etc/hosts"}),
    ],
)
def test_what_a_uri_was_made_of(template: str, uri: str, values: dict[str, Any]) -> None:
    assert match(template, uri) == values


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("docs://{name}", "docs://"),
        ("docs://{name}", "docs://a/b"),
        ("docs://{name}", "docs://a?b"),
        ("docs://{name}", "docs://a#b"),
        ("docs://{name}", "DOCS://a"),
        ("docs://{name}", "xdocs://a"),
        ("docs://{name}", "docs://a\n"),
        ("docs://{name}", "docs://a b"),
        ("docs://{name}", "docs://a%"),
        ("docs://{name}", "docs://a%4"),
        ("docs://{name}", "docs://a%4g"),
        ("docs://{name}", "docs://{name}"),
        ("docs://{name}", "docs://%FF"),
        ("docs://{name}", "docs://%C0%AF"),
        ("docs://{name}", "docs://%ED%A0%80"),
        ("docs://{name}.md", "docs://a-md"),
        ("docs://{+path}", "docs://"),
        ("t://{x,y}", "t://1"),
        ("t://x{/a,b}", "t://x/1"),
        ("t://x{/path*}", "t://x//1"),
        ("t://x{/path*}", "t://x/"),
        ("t://x{;a,b}", "t://x;b=2;a=1"),
        ("t://x{;a}", "t://x;ab"),
        ("t://x{?q}", "t://x?"),
        ("t://x{?q}", "t://x?q"),
        ("t://x{?q}", "t://x?q=1&q=2"),
        ("t://x{?q}", "t://x?q=1&"),
        ("t://x{?q}", "t://x?other=1"),
        ("t://x{?q}", "t://x&q=1"),
        ("t://x?v=1{&q}", "t://x?v=1?q=2"),
        ("t://x?v=1{&q}", "t://x?v=1&v=2"),
        ("t://{+path}{?q}", "t://a?b"),
    ],
)
def test_what_a_template_never_makes_does_not_match(template: str, uri: str) -> None:
    assert match(template, uri) is None


HOSTILE = {
    "nul": "a%00b",
    "parent": "..",
    "encoded parent": "%2e%2e",
    "half encoded parent": ".%2E",
    "slash": "a%2Fb",
    "small slash": "a%2fb",
    "only a slash": "%2F",
    "absolute": "%2Fetc%2Fpasswd",
    "parent by backslashes": "..%5C..",
}


@pytest.mark.requirement("RES-07")
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "template",
    ["t://{v}", "t://x{/v}", "t://x{/v*}", "t://x{.v}", "t://x{;v}", "t://x{;v*}", "t://x{?v}", "t://x{?v*}"],
)
def test_no_value_makes_a_path_of_itself(template: str, hostile: str) -> None:
    uri = (
        template.partition("{")[0]
        + {"/": "/", ".": ".", ";": ";v=", "?": "?v=", "v": ""}[template[len("t://x{") - (template[4] == "{")]]
    )
    assert Matcher(template).match(uri + "fine") is not None
    parts = [OPERATORS[operator].first for operator in "./" if "{" + operator in template]
    if hostile.startswith(".") and parts == ["."]:
        hostile = "a%2F" + hostile  # a label itself begins with a dot
    assert Matcher(template).match(uri + hostile) is None


@pytest.mark.requirement("RES-07")
@pytest.mark.parametrize(
    "path",
    [
        "..", "../x", "x/..", "x/../y", "%2e%2e/x", "x/%2E%2E/y", "x%2F..%2Fy", "x%5C..%5Cy", "x/..%5Cy", "/etc/passwd",
        "%2Fetc", "%5C%5Chost", "C:/x", "c:%5Cx", "a%00b", "//host/x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("template", ["f:///{+path}", "f:///x{#path}"])
def test_a_path_that_was_asked_for_stays_below_its_place(template: str, path: str) -> None:
    before = "f:///" if "+" in template else "f:///x#"
    assert match(template, before + "a/b") == {"path": "a/b"}
    assert match(template, before + path) is None


@pytest.mark.requirement("RES-07")
@pytest.mark.parametrize("path", ["a/...", "a/..b", "a..", "...", "a/./b", "a//b", "a/", "http://x/y", "~x"])
def test_what_only_looks_like_an_escape_is_a_path(path: str) -> None:
    assert match("f:///{+path}", "f:///" + path) == {"path": path}


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("t://{a}{b}", "{a} and {b} cannot be told apart"),
        ("t://{a}-{b}", "{a} and {b} cannot be told apart"),
        ("t://{name}.{ext}", "{ext} and {name} cannot be told apart"),
        ("t://{name}{.ext}", "{ext} and {name} cannot be told apart"),
        ("t://{+a}/{+b}", "{a} and {b} cannot be told apart"),
        ("t://{+a,b}", "{a} and {b} cannot be told apart"),
        ("t://{a}{b*}", "{a} and {b} cannot be told apart"),
        ("t://{a}/x{/b}/y{c}z{d}", "{c} and {d} cannot be told apart"),
        ("t://x{#a,b}", "{a} and {b} cannot be told apart"),
        ("t://x{/a*}{/b*}", "{a} and {b} cannot be told apart"),
        ("t://x{.all*}", "{all} has no clear end"),
        ("t://{+all*}", "{all} has no clear end"),
        ("t://{a:3}", "holds the beginning of a value"),
        ("t://{a}/{a}", "'a' stands there twice"),
        ("t://{a}{?a}", "'a' stands there twice"),
        ("t://x{?a}/y", "/y follows the query"),
        ("t://x{?a}{b}", "{b} follows the query"),
        ("t://x?a=1{?b}", "there is one already; use {&...}"),
        ("t://x{&b}", "where there is none; use {?...}"),
        ("t://x{?a}{?b}", "{?b} begins a query where there is one already"),
        ("t://x{#a}{?b}", "{?b} stands behind the fragment"),
        ("t://x#a{?b}", "{?b} stands behind the fragment"),
        ("{a}", "does not begin with a scheme"),
        ("{+scheme}://x", "does not begin with a scheme"),
        ("x/{a}", "does not begin with a scheme"),
        ("1x:{a}", "does not begin with a scheme"),
        ("t://{a", "cannot stand in a URI template"),
    ],
)
def test_what_would_have_to_be_guessed_is_refused_with_the_reason(template: str, reason: str) -> None:
    with pytest.raises(UriTemplateError) as refused:
        Matcher(template)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("template", "ones", "others"),
    [
        ("t://{a}-{b}", {"a": "1-2", "b": "3"}, {"a": "1", "b": "2-3"}),
        ("t://{name}{.ext}", {"name": "a", "ext": "tar.gz"}, {"name": "a.tar", "ext": "gz"}),
        ("t://{+a}/{+b}", {"a": "1", "b": "2/3"}, {"a": "1/2", "b": "3"}),
        ("t://x{.all*}", {"all": ["a.b"]}, {"all": ["a", "b"]}),
        ("t://x{/a*}{/b*}", {"a": ["1"], "b": ["2"]}, {"a": ["1", "2"], "b": []}),
    ],
)
def test_what_is_refused_is_made_of_different_values_indeed(template: str, ones: Any, others: Any) -> None:
    assert expand(parse(template), ones) == expand(parse(template), others)


def test_the_order_puts_first_what_fixes_more() -> None:
    templates = ["t://{+p}", "t://{a}", "t://users/{id}", "t://{kind}/{id}", "t://x{/all*}", "t://{a}?v=1", "t://{z}"]
    ordered = sorted(map(Matcher, templates), key=lambda one: one.rank)
    assert [one.template for one in ordered] == [
        "t://users/{id}", "t://{a}?v=1", "t://{kind}/{id}", "t://{a}", "t://{z}", "t://x{/all*}", "t://{+p}",
    ]  # fmt: skip


def test_a_uri_of_any_length_gets_an_answer() -> None:
    long = "t://" + "a/" * (MAX_URI_CHARACTERS // 2 - 3)
    matcher = Matcher("t://{+path}/{x}/{y}/{z}!")
    assert matcher.match(long + "!") is None
    assert matcher.match(long + "a!") is not None
    assert matcher.match("t://" + "a" * MAX_URI_CHARACTERS + "/1/2/3!") is None


# --- properties

NAMES = ["a", "b", "c"]
PIECES = st.one_of(
    st.sampled_from(["/", "-", "x", ".", ":", ",", "?k=1", "%41", "é", ";a", "&"]),
    st.builds(
        lambda operator, names: "{" + operator + ",".join(names) + "}",
        st.sampled_from(sorted(OPERATORS)),
        st.lists(st.builds(str.__add__, st.sampled_from(NAMES), st.sampled_from(["", "*"])), min_size=1, max_size=2),
    ),
)
TEMPLATES = st.lists(PIECES, min_size=1, max_size=5).map(lambda pieces: "t:" + "".join(pieces))
TEXTS = st.text(st.sampled_from("aé-.,:;=&?#/%2F \\\0"), max_size=5) | st.sampled_from(["..", "a/../b", "/a", "%2F"])
PLAIN = st.text(st.sampled_from("abcü "), min_size=1, max_size=4)


def compiled(template: str) -> Matcher:
    try:
        return Matcher(template)
    except UriTemplateError:
        assume(False)
        raise


def values_for(matcher: Matcher, draw: st.DataObject, texts: st.SearchStrategy[str]) -> dict[str, Any]:
    lists = st.lists(texts, min_size=1, max_size=3)
    return {name: draw.draw(lists if name in matcher.lists else texts) for name in matcher.names}


@given(TEMPLATES, st.data())
def test_what_was_put_in_comes_out(template: str, data: st.DataObject) -> None:
    matcher = compiled(template)
    values = values_for(matcher, data, PLAIN)
    assert matcher.match(expand(matcher.parts, values)) == values


@given(TEMPLATES, st.data())
def test_what_comes_out_was_put_in_or_nothing_comes(template: str, data: st.DataObject) -> None:
    matcher = compiled(template)
    values = values_for(matcher, data, TEXTS)
    uri = expand(matcher.parts, values)
    found = matcher.match(uri)
    if found is not None and re.search(r"{[+#]", template) and "%" in str(values):
        assert expand(matcher.parts, found) == uri  # "%22" is not encoded there: two values, one URI (RFC 6570, 3.2.3)
    else:
        assert found is None or found == values


@given(TEMPLATES, st.text(st.sampled_from("abct:/?&=;,.-#%2Fé"), max_size=12))
def test_whatever_matches_is_made_again_of_its_values(template: str, rest: str) -> None:
    matcher = compiled(template)
    values = matcher.match("t:" + rest)
    if values is not None:
        assert matcher.match(expand(matcher.parts, values)) == values
        flat = [text for value in values.values() for text in ([value] if isinstance(value, str) else value)]
        assert not any("\0" in text or ".." in text.split("/") or text.startswith("/") for text in flat)


@pytest.mark.requirement("RES-06")
@given(st.text(max_size=30), st.text(max_size=30))
def test_nothing_breaks_the_matcher(template: str, uri: str) -> None:
    for text in (template, f"t:{template}", f"t:{{{template}}}"):
        try:
            Matcher(text).match(uri)
        except UriTemplateError:
            continue
