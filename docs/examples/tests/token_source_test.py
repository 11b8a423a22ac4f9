"""The rules of token sources and of the provider, and a tool that requires a token."""

from docs.examples.plugins.token_source import Acme, AcmePlugin, AcmeTokens
from pegboard import Context, Toolkit
from pegboard.plugin import TokenSource
from pegboard.types import ToolAuthorization
from pegboard_testing import AuthProviderContract, TokenSourceContract, connect


class TestTokenSource(TokenSourceContract):
    def make(self) -> TokenSource:
        return AcmeTokens({(None, self.user): "token-of-ada"})

    def required(self) -> ToolAuthorization:
        return Acme(scopes=["read"])


class TestAuthProvider(AuthProviderContract):
    def make(self) -> type[ToolAuthorization]:
        return Acme


def test_a_tool_receives_the_token_of_its_user() -> None:
    kit = Toolkit("kit")

    @kit.tool(requires_auth=Acme(scopes=["read"]))
    def length(context: Context) -> int:
        """Measure the token."""
        assert context.authorization is not None
        return len(context.authorization.token)

    settings = {"plugins": {"acme": {"tokens": {"ada": "token-of-ada"}}}}
    with connect(kit, plugins={"acme": AcmePlugin}, hostconfig=settings, user="ada") as client:
        assert client.call("length").value == 12
