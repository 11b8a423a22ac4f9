"""The rules of auth providers, and a tool that requires a token."""

from docs.examples.plugins.auth_provider import Tracker, TrackerPlugin
from pegboard import Context, Toolkit
from pegboard.types import ToolAuthorization
from pegboard_testing import AuthProviderContract, connect


class TestAuthProvider(AuthProviderContract):
    def make(self) -> type[ToolAuthorization]:
        return Tracker


def test_a_tool_receives_a_token_of_the_provider() -> None:
    kit = Toolkit("kit")

    @kit.tool(requires_auth=Tracker(scopes=["read"]))
    def length(context: Context) -> int:
        """Measure the token."""
        assert context.authorization is not None
        return len(context.authorization.token)

    with connect(kit, plugins={"tracker": TrackerPlugin}, tokens={"tracker": "token"}) as client:
        assert client.call("length").value == 5
