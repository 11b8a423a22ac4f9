# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.client.addresses import (
    ClientLimits,
    Endpoint,
    Program,
    Stream,
)
from pegboard.client.aiohttp_exchange import (
    AiohttpExchange,
)
from pegboard.client.asked import (
    Asked,
    QuestionHandler,
)
from pegboard.client.client_errors import (
    ServerTimeoutError,
    UnreachableError,
)
from pegboard.client.http_auth import (
    HttpAuth,
    LoginRequiredError,
)
from pegboard.client.http_exchange import (
    HttpExchange,
    HttpReply,
)
from pegboard.client.oauth.authorization_code import (
    AuthorizationRequest,
    authorization_request,
    received_code,
    scope_fields,
    with_offline_access,
)
from pegboard.client.oauth.browser_login import (
    OAuth,
)
from pegboard.client.oauth.client_credentials import (
    ClientCredentials,
)
from pegboard.client.oauth.id_tokens import (
    id_token_claims,
)
from pegboard.client.oauth.json_requests import (
    JsonRequests,
    LoginFailedError,
    ServerUnavailableError,
    checked_url,
    is_outage,
    names_this_machine,
)
from pegboard.client.oauth.loopback_redirect import (
    LoopbackRedirect,
    RedirectReceiver,
)
from pegboard.client.oauth.oauth_client import (
    OAuthClient,
    at_server,
    credentials,
)
from pegboard.client.oauth.refusals import (
    oauth_error,
    refusal,
)
from pegboard.client.oauth.saved_login import (
    TokenStore,
)
from pegboard.client.oauth.server_metadata import (
    ServerMetadata,
    find_server,
)
from pegboard.client.oauth.signature_keys import (
    SignatureKeys,
)
from pegboard.client.oauth.token_endpoint import (
    is_access_token,
    renewal_time,
)
from pegboard.client.reconnecting import (
    reconnect_delay,
)
from pegboard.client.server_description import (
    ServerDescription,
)
from pegboard.client.server_stream import (
    MessageStream,
)
from pegboard.client.wire_client import (
    Client,
)

__all__ = [
    "AiohttpExchange",
    "Asked",
    "AuthorizationRequest",
    "Client",
    "ClientCredentials",
    "ClientLimits",
    "Endpoint",
    "HttpAuth",
    "HttpExchange",
    "HttpReply",
    "JsonRequests",
    "LoginFailedError",
    "LoginRequiredError",
    "LoopbackRedirect",
    "MessageStream",
    "OAuth",
    "OAuthClient",
    "Program",
    "QuestionHandler",
    "RedirectReceiver",
    "ServerDescription",
    "ServerMetadata",
    "ServerTimeoutError",
    "ServerUnavailableError",
    "SignatureKeys",
    "Stream",
    "TokenStore",
    "UnreachableError",
    "at_server",
    "authorization_request",
    "checked_url",
    "credentials",
    "find_server",
    "id_token_claims",
    "is_access_token",
    "is_outage",
    "names_this_machine",
    "oauth_error",
    "received_code",
    "reconnect_delay",
    "refusal",
    "renewal_time",
    "scope_fields",
    "with_offline_access",
]
