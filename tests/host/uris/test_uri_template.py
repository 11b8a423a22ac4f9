"""Expanding URI templates: the examples of RFC 6570, and another implementation as the judge of everything else."""

from __future__ import annotations

from typing import Any

import pytest
import uritemplate
from hypothesis import given
from hypothesis import strategies as st

from pegboard.uris.template import OPERATORS, UriTemplateError, expand, parse, variables

VALUES: dict[str, Any] = {
    "count": ["one", "two", "three"],
    "dom": ["example", "com"],
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "empty_keys": {},
    "undef": None,
    "triplet": "a%20b%2",
    "umlaut": "ü",
}
"""Those of RFC 6570 section 3.2."""


@pytest.mark.requirement("RES-12")
@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("{count}", "one,two,three"),
        ("{/count*}", "/one/two/three"),
        ("{;count*}", ";count=one;count=two;count=three"),
        ("{?count*}", "?count=one&count=two&count=three"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,empty}", "?1024,"),
        ("{var:3}{var:30}", "valvalue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{+keys*}", "semi=;,dot=.,comma=,"),
        ("{+triplet}", "a%20b%252"),
        ("{#path:6}here", "#/foo/bhere"),
        ("foo{#undef}", "foo"),
        ("X{.empty_keys}", "X"),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"),
        ("www{.dom*}", "www.example.com"),
        ("{/var:1,var}", "/v/value"),
        ("{/var,undef}", "/value"),
        ("{/var,empty}", "/value/"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;hello:5}", ";hello=Hello"),
        ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"),
        ("{umlaut}", "%C3%BC"),
        ("ü%c3{x}", "%C3%BC%c31024"),
        ("it's:{x}", "it's:1024"),
        ("{undef,x,undef}", "1024"),
    ],
)
def test_the_examples_of_the_rfc(template: str, uri: str) -> None:
    assert expand(parse(template), VALUES) == uri


@pytest.mark.requirement("RES-12")
@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{", "'{' at character 1"),
        ("a}b", "'}' at character 2"),
        ("{a{b}}", "'{' at character 1"),
        ("{}", "'' in {} is no variable"),
        ("{a,}", "is no variable"),
        ("{a b}", "'a b' in {a b} is no variable"),
        ("{a:0}", "is no variable"),
        ("{a:12345}", "is no variable"),
        ("{a:}", "is no variable"),
        ("{a:x}", "is no variable"),
        ("{a*:3}", "is no variable"),
        ("{a:3*}", "is no variable"),
        ("{.a.}", "is no variable"),
        ("{a..b}", "is no variable"),
        ("{-a}", "is no variable"),
        ("{=a}", "the operator '=' of {=a} is reserved"),
        ("{|a}", "the operator '|'"),
        ("a b", "' ' at character 2"),
        ("x{a}\n", "'\\n' at character 5"),
        ("<{a}>", "'<' at character 1"),
        ("100%", "'%' at character 4"),
        ("%zz", "'%' at character 1"),
    ],
)
def test_what_is_no_template_is_refused_with_the_place(template: str, reason: str) -> None:
    with pytest.raises(UriTemplateError) as refused:
        parse(template)
    assert reason in str(refused.value)


def test_a_prefix_of_several_values_is_refused() -> None:
    with pytest.raises(UriTemplateError, match="no first 3 characters"):
        expand(parse("{list:3}"), VALUES)


def test_variables_come_in_their_order() -> None:
    found = variables(parse("a{x,y:2}b{?z*}"))
    assert [(one.name, one.prefix, one.explode) for one in found] == [
        ("x", None, False),
        ("y", 2, False),
        ("z", None, True),
    ]


NAMES = ["a", "b", "c_1", "d.e"]
PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="%"), max_size=6)
MEMBER = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="%"), min_size=1, max_size=6)
# no empty lists: they are undefined (section 2.3), which the other implementation forgets
ANY_VALUE = st.one_of(
    st.none(),
    PLAIN,
    st.lists(MEMBER, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["k", "l-1", "m;n"]), MEMBER, min_size=1, max_size=2),
)


@st.composite
def expressions(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3))
    return (
        "{"
        + draw(st.sampled_from(sorted(OPERATORS)))
        + ",".join(n + draw(st.sampled_from(["", "*"])) for n in names)
        + "}"
    )


TEMPLATES = st.lists(st.one_of(expressions(), st.sampled_from(["x", "/", "?q=1", "-", "%41", "é"])), max_size=5).map(
    "".join
)


@pytest.mark.requirement("RES-12")
@given(TEMPLATES, st.fixed_dictionaries(dict.fromkeys(NAMES, ANY_VALUE)))
def test_another_implementation_expands_the_same(template: str, values: dict[str, Any]) -> None:
    literal_is_encoded = template.replace("é", "%C3%A9")
    sorted_keys = {k: dict(sorted(v.items())) if isinstance(v, dict) else v for k, v in values.items()}
    assert expand(parse(template), sorted_keys) == uritemplate.expand(literal_is_encoded, sorted_keys)


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=3), ANY_VALUE, max_size=2))
def test_no_text_fails_but_by_being_refused(text: str, values: dict[str, Any]) -> None:
    try:
        parts = parse(text)
    except UriTemplateError:
        return
    assert expand(parts, values).isascii()
