"""The built-in providers: their names and their error adapters."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from pegboard import Host
from pegboard_plugins.auth import auth_providers
from pegboard_plugins.auth.auth_providers import PROVIDERS, GitHub, Google, Microsoft, MicrosoftPowerBI, OAuth2, Slack
from tests.plugins.auth.conftest import token_kit
from tests.support import acme_login
from tests.support.distributions import make_distribution

NAMED = {
    "Airtable": "airtable", "Asana": "asana", "Atlassian": "atlassian", "Attio": "attio", "Calendly": "calendly",
    "ClickUp": "clickup", "Discord": "discord", "Dropbox": "dropbox", "Figma": "figma", "GitHub": "github",
    "Google": "google", "Hubspot": "hubspot", "Linear": "linear", "LinkedIn": "linkedin", "Microsoft": "microsoft",
    "MicrosoftPowerBI": "microsoft-powerbi", "Notion": "notion", "PagerDuty": "pagerduty", "Reddit": "reddit",
    "Slack": "slack", "Spotify": "spotify", "Twitch": "twitch", "X": "x", "Zoom": "zoom",
}  # fmt: skip


def test_there_is_a_class_for_each_name() -> None:
    assert {auth.__name__: auth.provider.id for auth in PROVIDERS} == {**NAMED, "OAuth2": None}
    for name, provider_id in NAMED.items():
        requirement = getattr(auth_providers, name)(id="mine", scopes=["a"])
        assert (requirement.provider_id, requirement.provider_type) == (provider_id, "oauth2")
        assert (requirement.id, requirement.scopes) == ("mine", ("a",))
    assert issubclass(MicrosoftPowerBI, Microsoft)
    own = OAuth2(id="intranet", scopes=["read"])
    assert (own.provider_id, own.name, own.scopes) == (None, "intranet", ("read",))
    for auth in PROVIDERS:
        assert str(auth.provider.documentation).startswith("https://")
        assert auth.provider.title
        assert auth.__doc__


def test_each_provider_has_its_error_adapter_first() -> None:
    google, graph, slack = "_google_api_client", "_microsoft_graph", "_slack_sdk"
    tied = {Google(): google, Microsoft(): graph, MicrosoftPowerBI(): graph, Slack(): slack, GitHub(): google}
    for requirement, adapter in {**tied, OAuth2(id="x"): google}.items():
        host = Host({"host": {"autoload": False, "transports": []}}, toolkits={"t": token_kit(use=requirement)})
        adapters = host.load().tools["use"].adapters
        assert adapters[0].slug == adapter
        assert len(adapters) == len(host.assembly.adapters)


def test_a_tool_names_the_plugin_of_an_unknown_provider() -> None:
    config = {"host": {"autoload": False, "transports": [], "disabled_plugins": ["auth_providers"]}}
    host = Host(config, toolkits={"t": token_kit(use=GitHub())})
    assert not host.load().tools
    (problem,) = host.problems
    assert "by 'github', which no running plugin describes: enable the plugin 'auth_providers'" in str(problem)


def test_a_tool_names_the_third_party_plugin_of_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_points = {"pegboard.plugins": {"acme_login": "acme_login:AcmePlugin"}}
    make_distribution(tmp_path, "acme-login", "1", entry_points, {"acme_login.py": inspect.getsource(acme_login)})
    monkeypatch.syspath_prepend(tmp_path)
    from acme_login import Acme  # type: ignore[import-not-found]

    config = {"host": {"autoload": False, "transports": []}}
    host = Host(config, toolkits={"t": token_kit(use=Acme())})
    assert not host.load().tools
    assert any("enable the plugin 'acme_login'" in str(problem) for problem in host.problems)
    on = Host({**config, "plugins": {"acme_login": {}}}, toolkits={"t": token_kit(use=Acme())})
    assert list(on.load().tools) == ["use"]
