"""The outputs of docs/authorization.md are those of the host, and its list of providers is complete."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pegboard import AuthorizationRequiredError, Toolkit
from pegboard_plugins.auth.auth_providers import PROVIDERS, AuthProvidersPlugin
from tests.docs.pages import Page
from tests.host.hosting import failure, make_host, value

PAGE = Page("docs/authorization.md")


def test_the_list_has_every_provider_with_its_documentation() -> None:
    listed = re.findall(r"\[`(\w+)`\]\((https:\S+?)\)", PAGE)
    known = [(auth.__name__, auth.provider.documentation) for auth in PROVIDERS if auth.provider.id]
    assert listed == known


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
