"""What docs/authorization.md shows is what happens, and its table is what there is."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.loading.discovery import defaults
from pegboard.plugin import AuthorizationRequiredError, HostConfig
from pegboard_plugins.auth_providers import PROVIDERS, AuthProvidersPlugin, GitHub, OAuth2
from tests.docs.pages import Page
from tests.host.hosting import failure, make_host, value

PAGE = Page("docs/authorization.md")


def test_the_table_has_every_provider_with_its_documentation() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| <(\S+)> \|$", PAGE, re.M)
    known = [(one.__name__, one.provider.title, one.provider.documentation) for one in PROVIDERS if one.provider.id]
    assert rows == known


async def test_the_toolkit_the_provider_and_the_source_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PAGE.write(tmp_path))
    for name in ("toolkit_stars", "pegboard_acme_login"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    stars, login = import_module("toolkit_stars").kit, import_module("pegboard_acme_login")
    kit = Toolkit("t", prefix=False)

    @kit.tool(requires_auth=login.Acme(scopes=["read"]))
    def work() -> str:
        """Work."""
        return "done"

    async with make_host(
        kit, stars, plugins={"acme": login.AcmePlugin, "providers": AuthProvidersPlugin}, user="ann"
    ) as host:
        error = (await failure(host, "stars_star", {"repository": "a/b"})).error
        assert isinstance(error, AuthorizationRequiredError)
        assert error.provider == "github"
        error = (await failure(host, "work")).error
        assert isinstance(error, AuthorizationRequiredError)
        assert (error.url, error.scopes) == ("https://acme.example/authorize", ("read",))
        login.TOKENS[None, "ann"] = "t"
        assert await value(host, "work") == "done"


async def test_the_operators_own_tokens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = PAGE.blocks["toml config"]
    (tmp_path / "hostconfig.toml").write_text(f"[host]\nautoload = false\ntransports = []\n{text}", "utf-8")
    monkeypatch.setenv("INTRANET_TOKEN", "i")
    config = HostConfig.load(tmp_path / "hostconfig.toml", environ={"GITHUB_TOKEN": "g"}, defaults=defaults())
    kit = Toolkit("t", prefix=False)

    for name, required in (("github", GitHub()), ("intranet", OAuth2(id="intranet"))):

        @kit.tool(name=name, requires_auth=required)
        def use(context: Context) -> str:
            """Use a token."""
            return context.get_auth_token_or_empty()

    async with Host(config, toolkits={"t": kit}) as host:
        assert [await value(host, name) for name in ("github", "intranet")] == ["g", "i"]
