"""The rules of routes."""

from collections.abc import Sequence

from docs.examples.plugins.route import StatusPlugin, status
from pegboard.plugin import Route
from pegboard.types import Request
from pegboard_testing import RouteContract, connect, http_request


class TestRoute(RouteContract):
    def make(self) -> Route:
        return Route(method="GET", path="/status", handler=status, auth="public")

    def requests(self) -> Sequence[Request]:
        return [http_request(path="/status")]


def test_the_host_accepts_the_plugin() -> None:
    with connect(StatusPlugin) as client:
        assert client.problems == ()
