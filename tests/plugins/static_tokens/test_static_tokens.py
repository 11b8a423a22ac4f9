"""Static tokens: their users, sources and secrecy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard import Authorization, Context, Host, Toolkit
from pegboard.plugin import AuthorizationRequiredError, Plugin, SecretStore, TokenSource, hookimpl
from pegboard.types import ANONYMOUS, Caller, Supplied, TokenRequest
from pegboard_plugins.auth_providers import GitHub, OAuth2
from pegboard_plugins.static_tokens import StaticTokensConfig
from tests.host.hosting import failure, plugin_of, value
from tests.plugins.resource_server.conftest import serve
from tests.support.distributions import make_distribution
from tests.support.http_mcp import ask, call
from tests.support.issuer import Issuer
from tests.support.pool import CONFIG
from tests.support.wire import Wire

CANARY = "ghp-canary-7781"
KIT = """
from pegboard import Context, Toolkit
from pegboard_plugins.auth_providers import GitHub

kit = Toolkit("repos")

@kit.tool(requires_auth=GitHub(scopes=["repo"]))
def known(context: Context) -> bool:
    "Whether the token is the one."
    return context.get_auth_token_or_empty() == "ghp-canary-7781"
"""


def kit_of() -> Toolkit:
    kit = Toolkit("t", prefix=False)

    for name, required in (("github", GitHub()), ("work", GitHub(id="work")), ("intranet", OAuth2(id="intranet"))):

        @kit.tool(name=name, requires_auth=required)
        def use(context: Context) -> str:
            """Use a token."""
            return context.get_auth_token_or_empty()

    return kit


class Store:
    name = "test"

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values

    def get(self, name: str) -> str | None:
        return self.values.get(name)


def hosting(store: SecretStore | None = None, **section: Any) -> Host:
    config = {"host": {"autoload": False, "transports": [], "secret_stores": []}, "plugins": {"static_tokens": section}}
    plugins = {} if store is None else {"store": plugin_of(stores=[store])}
    return Host(config, toolkits={"t": kit_of()}, plugins=plugins)


TOKENS = {"github": "of github", "intranet": {"secret": "INTRANET"}}


async def test_tokens_are_found_by_provider_or_by_id() -> None:
    async with hosting(Store({"INTRANET": "of the store"}), tokens=TOKENS) as host:
        assert await value(host, "github") == "of github"
        assert await value(host, "intranet") == "of the store"
        assert isinstance((await failure(host, "work")).error, AuthorizationRequiredError)


ISSUER, OTHER = "https://auth.example", "https://other.example"
USERS: list[Any] = ["ann", {"subject": "ben", "issuer": ISSUER}]


async def test_tokens_are_for_the_operator_and_named_users() -> None:
    """Users of an issuer are named with it."""
    async with hosting(tokens=TOKENS, users=USERS) as host:
        for caller in (Caller("ann"), Caller("ben", issuer=ISSUER)):
            assert await value(host, "github", caller=caller) == "of github"
        others = [Caller("bob"), Caller("bob", trusted=True), ANONYMOUS, Caller(issuer=ISSUER)]
        others += [Caller("ann", issuer=ISSUER), Caller("ann", issuer=OTHER)]
        others += [Caller("ben"), Caller("ben", issuer=OTHER), Caller("ben", trusted=True)]
        for caller in others:
            assert "of github" not in str(await failure(host, "github", caller=caller)), caller
        assert await value(host, "github", supplied=Supplied(user_id="ann")) == "of github"
        for name in ("bob", "ben"):
            error = (await failure(host, "github", supplied=Supplied(user_id=name))).error
            assert isinstance(error, AuthorizationRequiredError)
        own = Supplied(Authorization("his own"), user_id="bob")
        assert await value(host, "github", supplied=own) == "his own"


@pytest.mark.parametrize("user", [{"subject": "ann"}, {"subject": "", "issuer": ISSUER}, {"issuer": ISSUER}, 5])
def test_users_are_names_or_have_subject_and_issuer(user: Any) -> None:
    with pytest.raises(ValidationError):
        StaticTokensConfig.model_validate({"users": [user]})


UNSET = "the secret INTRANET is not set: set it in test"


async def test_a_missing_secret_is_named_at_the_start_and_to_the_operator(caplog: pytest.LogCaptureFixture) -> None:
    async with hosting(Store({}), tokens=TOKENS) as host:
        told = [record.getMessage() for record in caplog.records]
        error = (await failure(host, "intranet")).error
        assert f"not_started; {UNSET}" in caplog.text
        assert len([record for record in caplog.records if "WORK_TOKEN" in record.getMessage()]) == 1  # said once
        caplog.clear()
        others = (Caller("bob"), Caller("bob", trusted=True), ANONYMOUS)  # it would not be for them
        told += [str((await failure(host, "intranet", caller=caller)).error) for caller in others]
    assert UNSET not in caplog.text
    assert [text for text in told if "INTRANET" in text] == [
        f"toolkit 't', assemble: {UNSET}; the token is needed by 'intranet'"
    ]
    assert isinstance(error, AuthorizationRequiredError)
    assert error.status == "not_started"
    assert error.message == f"Authorization required: this tool needs a token of intranet, and there is none: {UNSET}."
    assert "Tell the person" in str(error.additional_prompt_content)


BY_NAME = Store({"GITHUB_TOKEN": "of the name", "MY_OWN_TOKEN": "mine", "MCP_TOKEN": "the host's", "A.B_TOKEN": "x"})


def requiring(*names: str) -> Toolkit:
    kit = Toolkit("t", prefix=False)
    for number, name in enumerate(names):

        @kit.tool(name=f"tool_{number}", requires_auth=OAuth2(id=name))
        def use(context: Context) -> str:
            """Use a token."""
            return context.get_auth_token_or_empty()

    return kit


def by_default(kit: Toolkit, store: SecretStore, **section: Any) -> Host:
    config = {"host": {"autoload": False, "transports": [], "secret_stores": []}, "plugins": section}
    return Host(config, toolkits={"t": kit}, plugins={"store": plugin_of(stores=[store])})


async def test_without_settings_a_token_is_the_secret_of_the_providers_name() -> None:
    async with by_default(requiring("github", "my-Own", "mcp", "a.b"), BY_NAME) as host:
        assert host.problems == ()
        assert await value(host, "tool_0") == "of the name"
        assert await value(host, "tool_1") == "mine"
        for unknown in ("tool_2", "tool_3"):  # a secret of the host, and not a name
            assert isinstance((await failure(host, unknown)).error, AuthorizationRequiredError)
    tokens = {"my-own": "written down", "gitlab": {"secret": "MY_OWN_TOKEN"}}
    section = {"tokens": tokens, "users": ["ann"]}
    async with by_default(requiring("github", "gitlab", "my-own"), BY_NAME, static_tokens=section) as host:
        assert [await value(host, f"tool_{number}") for number in range(3)] == ["of the name", "mine", "written down"]
        assert await value(host, "tool_1", caller=Caller("ann")) == "mine"
        for caller in (Caller("ann"), Caller("ann", trusted=True), Caller("bob"), ANONYMOUS):
            assert "of the name" not in str(await failure(host, "tool_0", caller=caller))
        for_ann = Supplied(user_id="ann")
        assert isinstance((await failure(host, "tool_0", supplied=for_ann)).error, AuthorizationRequiredError)


async def test_another_source_may_have_the_token() -> None:
    class Vault:
        async def token(self, request: TokenRequest) -> Authorization | None:
            return Authorization("of the vault") if request.user_id == "ann" else None

    class VaultPlugin(Plugin):
        @hookimpl
        def register_token_sources(self) -> list[TokenSource]:
            return [Vault()]

    config = {"host": {"autoload": False, "transports": []}}
    host = Host(config, toolkits={"t": kit_of()}, plugins={"vault": VaultPlugin})
    async with host:
        assert host.problems == ()
        assert "_TOKEN" not in str((await failure(host, "github")).error)


async def test_secrets_of_the_host_are_no_tokens() -> None:
    tokens = {"github": {"secret": "ARCADE_WORKER_SECRET"}}
    async with hosting(Store({"ARCADE_WORKER_SECRET": "canary"}), tokens=tokens) as host:
        assert isinstance((await failure(host, "github")).error, AuthorizationRequiredError)


async def test_a_store_that_fails_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Store):
        def get(self, name: str) -> str | None:
            raise KeyError("broken")

    async with hosting(Broken({}), tokens=TOKENS) as host:
        await failure(host, "intranet")
    assert "the secret store 'test' failed to look up INTRANET" in caplog.text


async def test_plugins_have_no_secrets_before_the_host_has_started() -> None:
    plugin = plugin_of(stores=[Store({"KEY": "value"})])
    host = Host({"host": {"autoload": False, "transports": []}}, plugins={"p": plugin})
    context = host._program.context
    assert context.get_secret("KEY") is None
    async with host:
        assert context.get_secret("KEY") == "value"
        assert context.get_secret("PEGBOARD_KEY") is None


def test_settings_show_no_token() -> None:
    config = StaticTokensConfig.model_validate({"tokens": {"github": CANARY}})
    assert CANARY not in f"{config} {config!r}"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    make_distribution(tmp_path, "repos", "1", {"pegboard.toolkits": {"repos": "repos_kit:kit"}}, {"repos_kit.py": KIT})
    return tmp_path


@pytest.mark.parametrize("modern", [False, True], ids=["session", "modern"])
@pytest.mark.parametrize("key", ["env", "secret"])
async def test_over_the_wire(site: Path, modern: bool, key: str) -> None:
    config = f'{CONFIG}\n[plugins.static_tokens]\ntokens = {{ github = {{ {key} = "GITHUB_TOKEN" }} }}\n'
    async with Wire(config=config, site=site, env={"GITHUB_TOKEN": CANARY}) as wire:
        if not modern:
            await wire.initialize()
        result = await wire.result("tools/call", {"name": "repos_known", "arguments": {}}, modern=modern)
        await wire.close()
    assert result["content"][0]["text"] == "true"
    assert CANARY not in wire.stderr


async def test_a_subject_of_another_issuer_gets_no_token(site: Path) -> None:
    async with Issuer() as one, Issuer("/other") as other:
        users = f'users = [{{ subject = "ann", issuer = "{one.url}" }}]\ntokens = {{ github = {{ env = "GITHUB" }} }}'
        table = f'[[plugins.resource_server.authorization_servers]]\nissuer = "{other.url}"'
        settings = f"{table}\n[plugins.static_tokens]\n{users}\n"
        async with serve(site, one, server=settings, env={"GITHUB": CANARY}) as served:
            found = {}
            for issuer in (one, other):
                done = await ask(served, call("repos_known"), Authorization=f"Bearer {issuer.token()}")
                found[issuer.path] = done.result["content"][0]["text"]
                assert CANARY not in str(done)
            assert found[""] == "true"
            assert found["/other"].startswith("Authorization required")
            assert CANARY not in served.stderr
