# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.client.addresses import (
    ClientLimits,
    Endpoint,
    Program,
    Stream,
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
from pegboard.client.oauth.browser_login import (
    OAuth,
)
from pegboard.client.oauth.client_credentials import (
    ClientCredentials,
)
from pegboard.client.oauth.loopback_redirect import (
    LoopbackRedirect,
    RedirectReceiver,
)
from pegboard.client.oauth.oauth_client import (
    OAuthClient,
)
from pegboard.client.oauth.saved_login import (
    TokenStore,
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
    "Asked",
    "Client",
    "ClientCredentials",
    "ClientLimits",
    "Endpoint",
    "HttpAuth",
    "HttpExchange",
    "HttpReply",
    "LoginRequiredError",
    "LoopbackRedirect",
    "MessageStream",
    "OAuth",
    "OAuthClient",
    "Program",
    "QuestionHandler",
    "RedirectReceiver",
    "ServerDescription",
    "ServerTimeoutError",
    "Stream",
    "TokenStore",
    "UnreachableError",
]
