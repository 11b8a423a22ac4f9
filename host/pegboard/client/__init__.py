"""pegboard.client: a client for any MCP server. The host does not use it.

docs/client.md describes the names.
"""

from pegboard.exports import exports

_HOMES = {
    "client.addresses": "ClientLimits Endpoint Program Stream",
    "client.asked": "Asked QuestionHandler",
    "client.http_auth": "HttpAuth LoginRequiredError",
    "client.client_errors": "ServerTimeoutError UnreachableError",
    "client.http_exchange": "HttpExchange HttpReply",
    "client.server_stream": "MessageStream",
    "client.oauth.browser_login": "OAuth",
    "client.oauth.client_credentials": "ClientCredentials",
    "client.oauth.loopback_redirect": "LoopbackRedirect RedirectReceiver",
    "client.oauth.oauth_client": "OAuthClient",
    "client.oauth.saved_login": "TokenStore",
    "client.server_description": "ServerDescription",
    "client.wire_client": "Client",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
