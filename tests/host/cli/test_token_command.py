"""`pegboard token`: a token for trying the worker."""

from __future__ import annotations

import jwt
import pytest

from tests.host.cli.conftest import Command

SECRET = "0123456789abcdef-a-secret-of-the-tests"
SET = {"ARCADE_WORKER_SECRET": SECRET}


def lifetime(token: str, secret: str = SECRET) -> int:
    """Return for how many seconds a token is valid."""
    claims = jwt.decode(token.strip(), secret, algorithms=["HS256"], audience="worker")
    assert claims["ver"] == "1"
    return int(claims["exp"] - claims["iat"])


@pytest.mark.parametrize(
    ("options", "seconds"), [([], 3600), (["--seconds", "60"], 60), (["--seconds=31622400"], 31_622_400)]
)
def test_a_token_is_valid_for_an_hour_or_as_long_as_requested(
    pegboard: Command, options: list[str], seconds: int
) -> None:
    done = pegboard("token", *options, env=SET)
    assert (done.code, done.err, done.out.count("\n"), lifetime(done.out)) == (0, "", 1, seconds)
    found = pegboard("token", "--json", *options, env=SET).data
    assert (found["expires_in"], lifetime(found["token"])) == (seconds, seconds)


@pytest.mark.parametrize("seconds", ["0", "1.5", "x", "", "31622401", "9" * 5000, "\u0661"], ids=lambda one: one[:8])
def test_another_lifetime_is_refused(pegboard: Command, seconds: str) -> None:
    done = pegboard("token", f"--seconds={seconds}", "-vv", env=SET)
    assert (done.code, done.out, "Traceback" in done.err, SECRET in done.err) == (2, "", False, False)
    assert "argument --seconds: expected a whole number from 1 to 31622400" in done.err


@pytest.mark.parametrize("written", [f'"{SECRET}"', '{ env = "MINE" }'])
def test_the_secret_may_be_configured_and_is_not_shown(pegboard: Command, written: str) -> None:
    pegboard.configure(sections=f"[plugins.worker]\nsecret = {written}")
    assert lifetime(pegboard("token", env={"MINE": SECRET}).out) == 3600
    for line in ("token -vv", "config show", "plugins -vv", "token --help"):
        done = pegboard(*line.split(), env={"MINE": SECRET})
        assert (done.code, SECRET in done.out + done.err) == (0, False)


@pytest.mark.parametrize("secret", ["dev", "a" * 40])
@pytest.mark.filterwarnings("ignore:The HMAC key is")
def test_a_weak_secret_causes_a_warning(pegboard: Command, secret: str) -> None:
    done = pegboard("token", env={"ARCADE_WORKER_SECRET": secret})
    assert (done.code, lifetime(done.out, secret), "the secret is weak" in done.err) == (0, 3600, True)
    assert "HMAC" not in done.err


def test_without_a_secret_the_command_does_not_exist(pegboard: Command) -> None:
    for env in ({"ARCADE_WORKER_SECRET": ""}, {"ARCADE_AUTH_DISABLED": "true"}):
        done = pegboard("token", env=env)
        assert (done.code, done.out, "there is no command 'token'" in done.err) == (2, "", True)
