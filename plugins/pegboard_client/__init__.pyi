# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard_client.addresses import (
    ClientLimits,
    Endpoint,
    MessageStream,
    Program,
    Stream,
)
from pegboard_client.aiohttp_exchange import (
    AiohttpExchange,
)
from pegboard_client.asked import (
    Asked,
    QuestionHandler,
)
from pegboard_client.child_process import (
    ChildProcess,
    start_process,
)
from pegboard_client.client_errors import (
    ServerTimeoutError,
    UnreachableError,
)
from pegboard_client.handshake import (
    ServerDescription,
)
from pegboard_client.http_auth import (
    HttpAuth,
    LoginRequiredError,
)
from pegboard_client.http_exchange import (
    HttpExchange,
    HttpReply,
)
from pegboard_client.oauth.authorization_code import (
    AuthorizationRequest,
    authorization_request,
    received_code,
    scope_fields,
    with_offline_access,
)
from pegboard_client.oauth.browser_login import (
    OAuth,
)
from pegboard_client.oauth.browser_pages import (
    PAGE_HEADERS,
    browser_page,
    foreign_page,
    message_page,
)
from pegboard_client.oauth.client_credentials import (
    ClientCredentials,
)
from pegboard_client.oauth.id_tokens import (
    id_token_claims,
)
from pegboard_client.oauth.json_requests import (
    JsonRequests,
    LoginFailedError,
    ServerUnavailableError,
    UnregisteredError,
    canonical,
    checked_url,
    is_outage,
    names_this_machine,
)
from pegboard_client.oauth.loopback_redirect import (
    LoopbackRedirect,
    RedirectReceiver,
)
from pegboard_client.oauth.oauth_client import (
    OAuthClient,
    at_server,
    credentials,
)
from pegboard_client.oauth.refusals import (
    oauth_error,
    refusal,
)
from pegboard_client.oauth.saved_login import (
    TokenStore,
)
from pegboard_client.oauth.server_metadata import (
    ServerMetadata,
    find_server,
)
from pegboard_client.oauth.signature_keys import (
    SignatureKeys,
)
from pegboard_client.oauth.token_endpoint import (
    is_access_token,
    renewal_time,
)
from pegboard_client.reconnecting import (
    reconnect_delay,
)
from pegboard_client.task_calls import (
    TaskCancelledError,
    WatchTask,
)
from pegboard_client.wire_client import (
    Client,
)

__all__ = [
    "AiohttpExchange",
    "Asked",
    "AuthorizationRequest",
    "ChildProcess",
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
    "PAGE_HEADERS",
    "Program",
    "QuestionHandler",
    "RedirectReceiver",
    "ServerDescription",
    "ServerMetadata",
    "ServerTimeoutError",
    "ServerUnavailableError",
    "SignatureKeys",
    "Stream",
    "TaskCancelledError",
    "TokenStore",
    "UnreachableError",
    "UnregisteredError",
    "WatchTask",
    "at_server",
    "authorization_request",
    "browser_page",
    "canonical",
    "checked_url",
    "credentials",
    "find_server",
    "foreign_page",
    "id_token_claims",
    "is_access_token",
    "is_outage",
    "message_page",
    "names_this_machine",
    "oauth_error",
    "received_code",
    "reconnect_delay",
    "refusal",
    "renewal_time",
    "scope_fields",
    "start_process",
    "with_offline_access",
]
