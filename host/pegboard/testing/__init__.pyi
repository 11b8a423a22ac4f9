# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.client.asked import (
    Asked,
)
from pegboard.testing.answers import (
    Answer,
    accept,
    cancel,
    decline,
    reply,
)
from pegboard.testing.client import (
    Logged,
    Reported,
    TestClient,
)
from pegboard.testing.client_results import (
    CallError,
    CallResult,
    PromptGiven,
    ReadResult,
    ToolFailed,
)
from pegboard.testing.contracts.auth_contracts import (
    AuthProviderContract,
    TokenSourceContract,
)
from pegboard.testing.contracts.authenticator_contract import (
    AuthenticatorContract,
)
from pegboard.testing.contracts.command_contract import (
    CommandContract,
)
from pegboard.testing.contracts.contract import (
    Contract,
    rule,
)
from pegboard.testing.contracts.error_adapter_contract import (
    ErrorAdapterContract,
)
from pegboard.testing.contracts.http_requests import (
    http_request,
)
from pegboard.testing.contracts.middleware_contract import (
    MiddlewareContract,
)
from pegboard.testing.contracts.route_contract import (
    RouteContract,
)
from pegboard.testing.contracts.secret_store_contract import (
    SecretStoreContract,
    WritableSecretStoreContract,
)
from pegboard.testing.contracts.store_contracts import (
    EventStoreContract,
    SessionStoreContract,
    session_record,
)
from pegboard.testing.contracts.stream_clients import (
    FarEnd,
    Lines,
)
from pegboard.testing.contracts.transport_contract import (
    TransportContract,
)
from pegboard.testing.effects import (
    effect,
)
from pegboard.testing.in_memory import (
    connect,
)
from pegboard.testing.replay import (
    RepeatedEffects,
)
from pegboard.testing.snapshots import (
    SnapshotDiffers,
    compare,
)
from pegboard.testing.sync_client import (
    PlainClient,
)

__all__ = [
    "Answer",
    "Asked",
    "AuthProviderContract",
    "AuthenticatorContract",
    "CallError",
    "CallResult",
    "CommandContract",
    "Contract",
    "ErrorAdapterContract",
    "EventStoreContract",
    "FarEnd",
    "Lines",
    "Logged",
    "MiddlewareContract",
    "PlainClient",
    "PromptGiven",
    "ReadResult",
    "RepeatedEffects",
    "Reported",
    "RouteContract",
    "SecretStoreContract",
    "SessionStoreContract",
    "SnapshotDiffers",
    "TestClient",
    "TokenSourceContract",
    "ToolFailed",
    "TransportContract",
    "WritableSecretStoreContract",
    "accept",
    "cancel",
    "compare",
    "connect",
    "decline",
    "effect",
    "http_request",
    "reply",
    "rule",
    "session_record",
]
