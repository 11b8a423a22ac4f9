"""The rules of middleware, and a call through a host."""

from docs.examples.plugins.middleware import Signature, SignaturePlugin
from pegboard import Toolkit
from pegboard.plugin import Middleware
from pegboard_testing import MiddlewareContract, connect


class TestMiddleware(MiddlewareContract):
    def make(self) -> Middleware:
        return Signature("Bye.")


def test_a_result_is_signed() -> None:
    kit = Toolkit("kit")

    @kit.tool
    def hello() -> str:
        """Greet."""
        return "Hello."

    with connect(kit, plugins={"signature": SignaturePlugin}) as client:
        assert client.call("hello").text == "Hello.\nServed by pegboard."

    settings = {"plugins": {"signature": {"text": "Bye."}}}
    with connect(kit, plugins={"signature": SignaturePlugin}, hostconfig=settings) as client:
        assert client.call("hello").text == "Hello.\nBye."
