"""Known secrets are masked in strings, in every written form."""

from __future__ import annotations

import base64
import contextvars
import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus

import httpx
import pytest
import yarl
from multidict import CIMultiDict
from pydantic import TypeAdapter, ValidationError

from pegboard import Authorization, Context, PluginConfig, RetryableToolError, Toolkit
from pegboard.config.references import MASK, MIN_SECRET_CHARACTERS
from pegboard.errors import FatalToolError, NotFoundError, ServerError, UpstreamError
from pegboard.plugin import PluginError, ProtocolError, redact_logs, redacted
from pegboard.secrets import redaction
from pegboard.secrets.redaction import Redactor, redacted_error
from pegboard.types import Supplied
from tests.host.context.test_requirements import Store
from tests.host.hosting import failure, kit_of, make_host, plugin_of, value, work

CANARY = 'cnry/7f+3a "ü" é&x=1\n?y'
"""A secret that every way of writing it down changes."""


@pytest.fixture
def known() -> Iterator[Redactor]:
    redactor = Redactor()
    redactor.add(CANARY)
    yield redactor
    redactor.close()


WAYS = {
    "unchanged": CANARY,
    "JSON": json.dumps({"key": CANARY}),
    "JSON in Unicode": json.dumps({"key": CANARY}, ensure_ascii=False),
    "repr": repr({"key": CANARY}),
    "a path": "https://x.example/" + quote(CANARY, safe=""),
    "a path with slashes": "https://x.example/" + quote(CANARY),
    "a form": quote_plus(CANARY),
    "lower escapes": quote(CANARY, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
    "yarl": str(yarl.URL("https://x.example/").with_query(key=CANARY)),
    "httpx": str(httpx.URL("https://x.example/", params={"key": CANARY})),
    "base64 for URLs": base64.urlsafe_b64encode(CANARY.encode()).decode(),
    **{
        f"basic authentication of {name!r}": "Basic " + base64.b64encode(f"{name}:{CANARY}".encode()).decode()
        for name in ("", "a", "ab")
    },
}


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_found_in_every_form(way: str) -> None:
    shown = redacted(f"before {WAYS[way]} after")
    assert MASK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    for left in ("cnry", "Y25yeS", "7f%2B3a", "7f+3a"):
        assert left not in shown


def test_a_short_secret_and_the_name_of_one_are_left_alone(known: Redactor) -> None:
    known.add("kqxzjw"[: MIN_SECRET_CHARACTERS - 1])
    assert redacted("the value kqxzjw") == "the value kqxzjw"
    known.add("kqxzjw"[:MIN_SECRET_CHARACTERS])
    assert MASK in redacted("the value kqxzjw")
    known.add("ACME_TOKEN")
    assert redacted("set ACME_TOKEN") == f"set {MASK}"
    known.spare("ACME_TOKEN")
    known.learn(lambda: ["ACME_TOKEN", "another-secret"])
    assert redacted("set ACME_TOKEN to another-secret") == f"set ACME_TOKEN to {MASK}"


def test_a_secret_that_another_thread_adds_meanwhile_is_masked(
    known: Redactor, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = threading.Thread(target=known.add, args=("added-meanwhile",))

    def forms_of(value: str) -> Any:
        if thread.ident is None:
            thread.start()
            thread.join(0.1)  # it may have to wait for the end of this search
        return of_value(value)

    of_value = redaction.forms_of
    monkeypatch.setattr(redaction, "forms_of", forms_of)
    redacted(CANARY)
    thread.join()
    assert redacted("added-meanwhile") == MASK


def test_the_longest_secret_is_masked_and_each_line_of_a_key(known: Redactor) -> None:
    for secret in ("kqxzjw-1", "kqxzjw-1-and-more"):
        known.add(secret)
    assert redacted("a kqxzjw-1-and-more b") == f"a {MASK} b"
    known.add("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n")
    assert redacted("line MIIEvQIBADANBgkqhkiG9w0B of it") == f"line {MASK} of it"
    assert redacted("-----BEGIN KEY-----") == "-----BEGIN KEY-----"


def test_a_value_that_pydantic_cut_short_is_not_shown(known: Redactor) -> None:
    known.add("kqxzjw" * 20)
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(int).validate_python("kqxzjw" * 20 + " is wrong")
    assert "kqx" in str(caught.value)
    assert "kqx" not in redacted(str(caught.value))


@pytest.mark.timeout(20)
@pytest.mark.usefixtures("known")
def test_a_text_of_a_caller_takes_no_longer_than_its_length_explains() -> None:
    for text in ("input_value=" + "." * 1_000_000, "input_value=...," * 100_000):
        assert redacted(text) == text


@pytest.mark.usefixtures("known")
def test_every_string_of_an_error_is_masked() -> None:
    keeps: list[object] = [CANARY]
    keeps.append(keeps)  # data may contain itself
    extra = {"a": [{"b": (CANARY, 1)}], CANARY: None, "c": "fine", "keeps": keeps}
    error = UpstreamError(f"no {CANARY}", f"for {CANARY}", status_code=500, extra=extra)
    assert redacted_error(error) is error
    assert (error.message, error.developer_message) == (f"no {MASK}", f"for {MASK}")
    assert {**error.extra, "keeps": error.extra["keeps"][0]} == {
        "a": [{"b": (MASK, 1)}], MASK: None, "c": "fine", "keeps": MASK
    }  # fmt: skip
    protocol = redacted_error(ProtocolError(-32000, f"x {CANARY}", {"y": CANARY}))
    assert isinstance(protocol, ProtocolError)
    assert (protocol.message, protocol.data) == (f"x {MASK}", {"y": MASK})
    harmless = RetryableToolError("fine", "fine too", "more", 5, {"a": [1, {"b": "c"}]})
    before = dict(vars(harmless))
    assert redacted_error(harmless) is harmless
    assert vars(harmless) == before


class Odd(RetryableToolError):
    """An error whose message is made of its attributes."""

    def __init__(self, url: object) -> None:
        self.url = url

    def __str__(self) -> str:
        return f"GET {self.url} failed"


class Stubborn(NotFoundError):
    def __str__(self) -> str:
        return f"nothing at {CANARY}"


@pytest.mark.usefixtures("known")
def test_an_error_that_makes_its_own_message_is_masked_or_replaced() -> None:
    masked = redacted_error(Odd(CANARY))
    assert (type(masked), masked.message) == (Odd, f"GET {MASK} failed")
    replaced = redacted_error(Odd(yarl.URL("https://x.example/").with_query(key=CANARY)))
    assert type(replaced) is FatalToolError
    assert "cnry" not in replaced.message
    assert type(redacted_error(Stubborn(""))) is ServerError


async def test_a_secret_of_a_store_is_masked_in_errors_and_not_in_results_while_the_host_runs() -> None:
    def fail(context: Context) -> None:
        raise RetryableToolError(f"the key {context.get_secret('API_KEY')} is wrong")

    def show(context: Context) -> str:
        return context.get_secret("API_KEY")

    host = make_host(
        kit_of(fail, show, requires_secrets=["API_KEY"]),
        plugins={"store": plugin_of(stores=[Store({"API_KEY": "canary-of-the-store"})])},
    )
    for _ in range(2):
        async with host:
            assert (await failure(host, "fail")).error.message == f"the key {MASK} is wrong"
            assert await value(host, "show") == "canary-of-the-store"
        assert redacted("canary-of-the-store") == "canary-of-the-store"


@pytest.mark.parametrize("header", ["bearer  canary-of-the-caller ", "canary-of-the-caller"])
async def test_secrets_and_tokens_of_a_request_are_masked_in_its_errors_and_tools_see_no_header(header: str) -> None:
    def fail(context: Context) -> str:
        assert context.headers is not None
        assert context.headers.get("Authorization") is None
        raise RetryableToolError(f"I was called with {header} and {context.get_secret('API_KEY')}")

    supplied = Supplied(Authorization("canary-of-the-token"), {"API_KEY": "canary-of-the-call"})
    shown = ("canary-of-the-caller", "canary-of-the-token", "canary-of-the-call")
    async with make_host(kit_of(fail, requires_secrets=["API_KEY"])) as host:
        failed = await failure(host, "fail", headers=CIMultiDict({"authorization": header}), supplied=supplied)
        assert failed.error.message.startswith("I was called with ")
        assert "canary" not in failed.error.message
        assert [redacted(text) for text in shown] == [MASK] * 3  # in what the same task logs later
    assert [contextvars.Context().run(redacted, text) for text in shown] == list(shown)


class Settings(PluginConfig):
    password: str


async def test_problems_hold_no_secrets_even_of_a_host_that_did_not_start() -> None:
    kit = Toolkit("x", config=Settings)

    kit.tool(enabled=lambda config: config.password.fails)(work)

    @kit.lifespan
    def live(config: Settings) -> None:
        raise ValueError(f"cannot log in with {config.password}")

    host = make_host(kit, config={"toolkits": {"x": {"password": "canary-of-the-settings"}}})
    with pytest.raises(PluginError) as caught:
        await host.start()
    assert f"cannot log in with {MASK}" in str(caught.value)
    assert "canary" not in f"{caught.value} {host.problems}"
    assert MASK in str(host.problems)


@pytest.mark.usefixtures("known")
def test_a_program_may_mask_what_its_handlers_write() -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(levelname)s:%(message)s"))
    for _ in range(2):
        redact_logs([handler])
    log = logging.getLogger("program_of_a_test")
    log.addHandler(handler)
    try:
        raise ValueError(f"inside {CANARY}")
    except ValueError:
        log.exception("it was %s", CANARY)
    log.removeHandler(handler)
    assert written.getvalue().startswith(f"ERROR:it was {MASK}\n    Traceback")
    assert written.getvalue().endswith(f"\n    ValueError: inside {MASK}\n")
