"""pegboard.client: a client for any MCP server. The host does not use it.

docs/client.md describes the names.
"""

from pegboard.exports import exports

_HOMES = {
    "client.aiohttp_exchange": "AiohttpExchange",
    "client.addresses": "ClientLimits Endpoint Program Stream",
    "client.asked": "Asked QuestionHandler",
    "client.http_auth": "HttpAuth LoginRequiredError",
    "client.client_errors": "ServerTimeoutError UnreachableError",
    "client.http_exchange": "HttpExchange HttpReply",
    "client.reconnecting": "reconnect_delay",
    "client.server_stream": "MessageStream",
    "client.oauth.authorization_code": """
        AuthorizationRequest authorization_request received_code scope_fields with_offline_access
    """,
    "client.oauth.browser_login": "OAuth",
    "client.oauth.client_credentials": "ClientCredentials",
    "client.oauth.id_tokens": "id_token_claims",
    "client.oauth.json_requests": """
        JsonRequests LoginFailedError ServerUnavailableError checked_url is_outage names_this_machine
    """,
    "client.oauth.loopback_redirect": "LoopbackRedirect RedirectReceiver",
    "client.oauth.oauth_client": "OAuthClient at_server credentials",
    "client.oauth.refusals": "oauth_error refusal",
    "client.oauth.saved_login": "TokenStore",
    "client.oauth.server_metadata": "ServerMetadata find_server",
    "client.oauth.signature_keys": "SignatureKeys",
    "client.oauth.token_endpoint": "is_access_token renewal_time",
    "client.server_description": "ServerDescription",
    "client.wire_client": "Client",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
