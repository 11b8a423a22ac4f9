"""pegboard_client: a client for any MCP server. The host does not use it.

docs/client.md describes the names.
"""

from pegboard.exports import exports

_HOMES = {
    ".aiohttp_exchange": "AiohttpExchange",
    ".addresses": "ClientLimits Endpoint MessageStream Program Stream",
    ".asked": "Asked QuestionHandler",
    ".http_auth": "HttpAuth LoginRequiredError",
    ".child_process": "ChildProcess start_process",
    ".client_errors": "ServerTimeoutError UnreachableError",
    ".handshake": "ServerDescription",
    ".http_exchange": "HttpExchange HttpReply",
    ".reconnecting": "reconnect_delay",
    ".oauth.authorization_code": """
        AuthorizationRequest authorization_request received_code scope_fields with_offline_access
    """,
    ".oauth.browser_login": "OAuth",
    ".oauth.browser_pages": "PAGE_HEADERS browser_page foreign_page message_page",
    ".oauth.client_credentials": "ClientCredentials",
    ".oauth.id_tokens": "id_token_claims",
    ".oauth.json_requests": """
        JsonRequests LoginFailedError ServerUnavailableError UnregisteredError canonical checked_url is_outage
        names_this_machine
    """,
    ".oauth.loopback_redirect": "LoopbackRedirect RedirectReceiver",
    ".oauth.oauth_client": "OAuthClient at_server credentials",
    ".oauth.refusals": "oauth_error refusal",
    ".oauth.saved_login": "TokenStore",
    ".oauth.server_metadata": "ServerMetadata find_server",
    ".oauth.signature_keys": "SignatureKeys",
    ".oauth.token_endpoint": "is_access_token renewal_time",
    ".task_calls": "TaskCancelledError WatchTask",
    ".wire_client": "Client",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
