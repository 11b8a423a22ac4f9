"""`pegboard token`: a token to try the worker with, and nothing that must not be seen."""

from __future__ import annotations

import json

import jwt
import pytest

from tests.cli.conftest import Command

SECRET = "0123456789abcdef-a-secret-of-the-tests"
SET = {"ARCADE_WORKER_SECRET": SECRET}


def lifetime(token: str, secret: str = SECRET) -> int:
    """For how many seconds a token of the worker is good."""
    claims = jwt.decode(token, secret, algorithms=["HS256"], audience="worker")
    assert claims["ver"] == "1"
    return int(claims["exp"] - claims["iat"])


def test_it_is_a_line_and_good_for_an_hour(pegboard: Command) -> None:
    done = pegboard("token", env=SET)
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert lifetime(done.out.strip()) == 3600


@pytest.mark.parametrize("seconds", [60, 31_622_400])
def test_it_lasts_as_long_as_is_said(pegboard: Command, seconds: int) -> None:
    assert lifetime(pegboard("token", "--seconds", str(seconds), env=SET).out.strip()) == seconds


def test_it_is_json_where_that_is_wanted(pegboard: Command) -> None:
    done = pegboard("token", "--json", "--seconds=50", env=SET)
    assert (done.code, done.data.keys(), done.data["expires_in"]) == (0, {"token", "expires_in"}, 50)
    assert lifetime(done.data["token"]) == 50


@pytest.mark.parametrize(
    "seconds", ["0", "-1", "1.5", "x", "", "31622401", "9" * 5000, "\u0661"], ids=lambda one: one[:8]
)
def test_no_other_time_is_taken(pegboard: Command, seconds: str) -> None:
    done = pegboard("token", f"--seconds={seconds}", env=SET)
    assert (done.code, done.out) == (2, "")
    assert "argument --seconds: expected a whole number from 1 to 31622400" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("place", ["a key", "a reference"])
def test_the_secret_may_be_configured(pegboard: Command, place: str) -> None:
    written = {"a key": json.dumps(SECRET), "a reference": '{ env = "MINE" }'}[place]
    pegboard.configure(sections=f"[plugins.worker]\nsecret = {written}")
    done = pegboard("token", env={"MINE": SECRET})
    assert (done.code, lifetime(done.out.strip())) == (0, 3600)


@pytest.mark.parametrize("secret", ["dev", "changeme", "a" * 40])
@pytest.mark.filterwarnings("ignore:The HMAC key is")
def test_a_weak_secret_is_warned_of(pegboard: Command, secret: str) -> None:
    done = pegboard("token", env={"ARCADE_WORKER_SECRET": secret})
    assert (done.code, lifetime(done.out.strip(), secret)) == (0, 3600)
    assert "the secret is weak" in done.err
    assert "HMAC" not in done.err


def test_the_secret_is_never_shown(pegboard: Command) -> None:
    for arguments in (["token", "-vv"], ["token", "--seconds=x", "-vv"], ["config", "show"], ["plugins", "-vv"]):
        done = pegboard(*arguments, env=SET)
        assert SECRET not in done.out + done.err
        assert "Traceback" not in done.err


def test_its_help_has_examples(pegboard: Command) -> None:
    shown = pegboard("token", "--help", env=SET).out
    assert "Make a token for trying the worker protocol." in shown
    assert "pegboard token --seconds 60" in shown


@pytest.mark.parametrize("env", [{}, {"ARCADE_WORKER_SECRET": ""}, {"ARCADE_AUTH_DISABLED": "true"}], ids=str)
def test_without_a_secret_there_is_none(pegboard: Command, env: dict[str, str]) -> None:
    done = pegboard("token", env=env)
    assert (done.code, done.out) == (2, "")
    assert "there is no command 'token'" in done.err
