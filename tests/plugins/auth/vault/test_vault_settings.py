"""Settings that cannot work, or that would weaken a login, are refused at the start."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard_plugins.auth.vault.provider_client import ProviderClient
from pegboard_plugins.auth.vault.settings import ProviderSettings, VaultConfig

OWN = {"authorization_endpoint": "https://a.example/a", "token_endpoint": "https://a.example/t"}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"client_id": "a\nb"}, "client_id"),
        ({"client_secret": ""}, "client_secret"),
        ({"scopes": ["a b"]}, "list scopes separately"),
        ({"parameters": {"state": "x"}}, "the host sets state itself: remove it"),
        ({"parameters": {"code_challenge_method": "plain"}}, "remove it"),
        ({"parameters": {"scope": "all"}}, "set scopes instead"),
        *(({name: "http://a.example/x"}, "must be https") for name in (*OWN, "issuer", "account_endpoint")),
        ({"token_endpoint": "nonsense"}, "invalid URL"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "invalid URL"),
        ({"redirect_uri": "http://127.0.0.1:3000/end#part"}, "without a user and a fragment"),
        ({"redirect_uri": "http://ann@127.0.0.1:3000/end"}, "without a user and a fragment"),
        ({"redirect_uri": "http://127.0.0.1:3000/{end}"}, "without a user and a fragment"),
    ],
)
def test_an_unusable_setting_is_refused(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        ProviderSettings.model_validate({"client_id": "x", **OWN, **more})


def test_the_problem_of_a_provider_names_its_section() -> None:
    with pytest.raises(ValidationError, match="acme is not a named provider") as caught:
        VaultConfig.model_validate({"providers": {"acme": {"client_id": "x"}}})
    assert caught.value.errors()[0]["loc"] == ("providers",)
    with pytest.raises(ValidationError, match="githb is not a named provider: did you mean github"):
        VaultConfig.model_validate({"providers": {"githb": {"client_id": "x"}}})


def test_tokens_of_an_own_server_are_not_sent_to_the_named_provider() -> None:
    """GitHub Enterprise Server: `account_endpoint` of github.com must not receive its tokens."""
    facts = ProviderClient("github", ProviderSettings.model_validate({"client_id": "x", **OWN})).facts
    assert (facts.account_endpoint, facts.device_endpoint, facts.revocation_endpoint) == ("", "", "")
    named = ProviderSettings(client_id="x", issuer="https://login.microsoftonline.com/tenant/v2.0")
    facts = ProviderClient("microsoft", named).facts  # the addresses are in the metadata
    assert (facts.authorization_endpoint, facts.token_endpoint, facts.scopes) == ("", "", ("offline_access",))
