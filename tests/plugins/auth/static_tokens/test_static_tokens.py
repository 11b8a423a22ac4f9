"""Static tokens: their users, sources and secrecy."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard import Authorization, Host
from pegboard.plugin import SecretStore, TokenSource
from pegboard.types import ANONYMOUS, Caller, Supplied, TokenRequest, ToolAuthorization
from pegboard_plugins.auth.auth_providers import OAuth2
from pegboard_plugins.auth.static_tokens import ONLY_OPERATOR, StaticTokensConfig
from tests.host.hosting import authorization_error, failure, plugin_of, value
from tests.plugins.auth.conftest import token_kit
from tests.support.command_line import Command
from tests.support.config import section


class Store(SecretStore):
    """A secret store that fails for the secret BROKEN."""

    name = "test"

    def __init__(self, **values: str) -> None:
        self.values = values

    def get(self, name: str) -> str | None:
        if name == "BROKEN":
            raise KeyError("broken")
        return self.values.get(name)


def hosting(*required: str, store: Store | None = None, sources: Any = (), **section: Any) -> Host:
    """Return a host with a tool for each required id. Without settings the plugin has no section."""
    kit = token_kit(**{name.lower().replace("-", "_").replace(".", "_"): OAuth2(id=name) for name in required})
    config: dict[str, Any] = {"host": {"autoload": False, "transports": [], "secret_stores": []}}
    if section:
        config["plugins"] = {"static_tokens": section}
    plugins = {"other": plugin_of(stores=[store or Store()], register_token_sources=sources)}
    return Host(config, toolkits={"t": kit}, plugins=plugins)


ISSUER, OTHER = "https://auth.example", "https://other.example"


async def test_tokens_are_for_the_operator_and_named_users() -> None:
    assert "of github" not in repr(StaticTokensConfig.model_validate({"tokens": {"github": "of github"}}))
    users = ["ann", {"subject": "ben", "issuer": ISSUER}]
    async with hosting("github", tokens={"github": "of github"}, users=users) as host:
        assert await value(host, "github") == "of github"
        for caller in (Caller("ann"), Caller("ben", issuer=ISSUER)):
            assert await value(host, "github", caller=caller) == "of github"
        others = [Caller("bob"), Caller("bob", trusted=True), ANONYMOUS, Caller(issuer=ISSUER)]
        others += [Caller("ann", issuer=ISSUER), Caller("ann", issuer=OTHER)]
        others += [Caller("ben"), Caller("ben", issuer=OTHER), Caller("ben", trusted=True)]
        for caller in others:
            assert "of github" not in str(await failure(host, "github", caller=caller)), caller
        assert await value(host, "github", supplied=Supplied(user_id="ann")) == "of github"
        for name in ("bob", "ben"):
            await authorization_error(host, "github", supplied=Supplied(user_id=name))
        for caller in (ANONYMOUS, Caller(client_id="worker"), Caller("bob")):  # nothing proves that it may name her
            await failure(host, "github", caller=caller, supplied=Supplied(user_id="ann"))
        engine = Caller(client_id="worker", service=True)
        assert await value(host, "github", caller=engine, supplied=Supplied(user_id="ann")) == "of github"
        own = Supplied(Authorization("his own"), user_id="bob")
        assert await value(host, "github", supplied=own) == "his own"


@pytest.mark.parametrize("user", [{"subject": "ann"}, {"subject": "", "issuer": ISSUER}, {"issuer": ISSUER}, 5])
def test_users_are_names_or_have_subject_and_issuer(user: Any) -> None:
    with pytest.raises(ValidationError):
        StaticTokensConfig.model_validate({"users": [user]})


async def test_without_settings_a_token_is_the_secret_of_the_providers_name() -> None:
    store = Store(GITHUB_TOKEN="of the name", MY_OWN_TOKEN="mine", MCP_TOKEN="the host's", **{"A.B_TOKEN": "x"})
    async with hosting("github", "my-Own", "mcp", "a.b", store=store) as host:
        assert host.problems == ()
        assert [await value(host, name) for name in ("github", "my_own")] == ["of the name", "mine"]
        for unknown in ("mcp", "a_b"):  # a secret of the host, and not a name
            await authorization_error(host, unknown)
    tokens = {"my-own": "written down", "gitlab": {"secret": "MY_OWN_TOKEN"}}
    async with hosting("github", "gitlab", "my-own", store=store, tokens=tokens, users=["ann"]) as host:
        values = [await value(host, name) for name in ("github", "gitlab", "my_own")]
        assert values == ["of the name", "mine", "written down"]
        assert await value(host, "gitlab", caller=Caller("ann")) == "mine"
        for caller in (Caller("ann"), Caller("ann", trusted=True), Caller("bob"), ANONYMOUS):
            assert "of the name" not in str(await failure(host, "github", caller=caller))
        await authorization_error(host, "github", supplied=Supplied(user_id="ann"))


STAR = """
from pegboard import Toolkit
from pegboard_plugins.auth.auth_providers import GitHub
kit = Toolkit("t")

@kit.tool(requires_auth=GitHub())
def use() -> None:
    '''Star a repository.'''
"""


@pytest.mark.needs("why")
@pytest.mark.parametrize(("token", "users", "is_told"), [("x", [], True), (None, [], False), ("x", ["ann"], False)])
def test_why_tells_that_only_the_operator_has_a_token(
    bare: Command, token: str | None, users: list[str], is_told: bool
) -> None:
    settings = {"users": users, "tokens": {"github": {"secret": "GITHUB_TOKEN"}}} if users else {}
    bare.configure(sections=section("plugins.static_tokens", settings))
    bare.write(STAR, "star.py")
    done = bare("why", "t_use", "--file", "star.py", env={"GITHUB_TOKEN": token})
    assert "it requires a token of github" in done.out
    assert (ONLY_OPERATOR in done.out) is is_told


async def test_a_missing_secret_is_named_at_the_start_and_to_the_operator(caplog: pytest.LogCaptureFixture) -> None:
    unset = "the secret INTRANET is not set: set it in test"
    async with hosting("intranet", tokens={"intranet": {"secret": "INTRANET"}}) as host:
        lines = [record.getMessage() for record in caplog.records]
        error = await authorization_error(host, "intranet")
        assert f"not_started; {unset}" in caplog.text
        caplog.clear()
        others = (Caller("bob"), Caller("bob", trusted=True), ANONYMOUS)  # it would not be for them
        lines += [str((await failure(host, "intranet", caller=caller)).error) for caller in others]
    assert unset not in caplog.text
    way = f"{unset}, or log in: `pegboard enable vault`, add intranet to its providers, then `pegboard login intranet`"
    assert [text for text in lines if "INTRANET" in text] == [
        f"toolkit 't', secrets: 1 tool needs INTRANET and is not offered over stdio: 'intranet'; {way}"
    ]
    assert error.status == "not_started"
    assert error.message == f"Authorization required: this tool needs a token of intranet, and there is none: {unset}."


@pytest.mark.parametrize(("secret", "problems"), [(None, 0), ("", 1)])
async def test_a_token_is_missing_if_no_other_source_may_have_it(secret: str | None, problems: int) -> None:
    class OtherSource(TokenSource):
        def secret(self, required: ToolAuthorization) -> str | None:
            return secret

        async def token(self, request: TokenRequest) -> Authorization | None:
            return Authorization("of another") if request.user_id == "ann" else None

    async with hosting("github", sources=[OtherSource()]) as host:
        assert ["needs GITHUB_TOKEN" in problem.message for problem in host.problems] == [True] * problems
        assert "the secret GITHUB_TOKEN is not set" in str((await failure(host, "github")).error)


@pytest.mark.needs("worker")
@pytest.mark.parametrize("secret", ["ARCADE_WORKER_SECRET", "BROKEN"])
async def test_host_secrets_and_broken_stores_give_no_tokens(caplog: pytest.LogCaptureFixture, secret: str) -> None:
    store = Store(ARCADE_WORKER_SECRET="canary")
    async with hosting("github", store=store, tokens={"github": {"secret": secret}}) as host:
        await authorization_error(host, "github")
    assert ("the secret store 'test' failed to look up BROKEN" in caplog.text) is (secret == "BROKEN")
