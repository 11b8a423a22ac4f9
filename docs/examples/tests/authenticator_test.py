"""The rules of authenticators."""

from collections.abc import Mapping, Sequence

from pydantic import SecretStr

from docs.examples.plugins.authenticator import ApiKeysAuthenticator, ApiKeysPlugin
from pegboard.plugin import Authenticator
from pegboard_testing import AuthenticatorContract, connect

KEY = "key-of-ada-0123456789"


class TestAuthenticator(AuthenticatorContract):
    def make(self) -> Authenticator:
        return ApiKeysAuthenticator({"ada": SecretStr(KEY)})

    def credentials(self) -> Sequence[Mapping[str, str]]:
        return [{"Authorization": f"ApiKey {KEY}"}]


def test_the_host_accepts_the_plugin() -> None:
    with connect(ApiKeysPlugin, config={"keys": {"ada": KEY}}) as client:
        assert client.problems == ()
