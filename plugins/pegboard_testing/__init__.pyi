# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard_client.asked import (
    Asked,
)
from pegboard_testing.answers import (
    Answer,
    accept,
    cancel,
    decline,
    reply,
)
from pegboard_testing.client import (
    Logged,
    Reported,
    TestClient,
)
from pegboard_testing.client_results import (
    CallError,
    CallResult,
    PromptGiven,
    ReadResult,
    ToolFailed,
)
from pegboard_testing.contracts.auth_contracts import (
    AuthProviderContract,
    TokenSourceContract,
)
from pegboard_testing.contracts.authenticator_contract import (
    AuthenticatorContract,
    http_request,
)
from pegboard_testing.contracts.bus_contract import (
    BusContract,
)
from pegboard_testing.contracts.command_contract import (
    CommandContract,
)
from pegboard_testing.contracts.contract import (
    Contract,
    rule,
)
from pegboard_testing.contracts.definition_check_contract import (
    DefinitionCheckContract,
)
from pegboard_testing.contracts.error_adapter_contract import (
    ErrorAdapterContract,
)
from pegboard_testing.contracts.method_contract import (
    MethodContract,
)
from pegboard_testing.contracts.middleware_contract import (
    MiddlewareContract,
)
from pegboard_testing.contracts.observer_contract import (
    ObserverContract,
)
from pegboard_testing.contracts.protocol_contract import (
    StreamProtocolContract,
)
from pegboard_testing.contracts.record_contract import (
    RecordStoreContract,
    new_record,
)
from pegboard_testing.contracts.route_contract import (
    RouteContract,
)
from pegboard_testing.contracts.secret_store_contract import (
    SecretStoreContract,
    WritableSecretStoreContract,
)
from pegboard_testing.contracts.store_contracts import (
    EventStoreContract,
    SessionStoreContract,
)
from pegboard_testing.contracts.transport_contract import (
    FarEnd,
    Lines,
    TransportContract,
)
from pegboard_testing.effects import (
    effect,
)
from pegboard_testing.in_memory import (
    connect,
)
from pegboard_testing.replay import (
    RepeatedEffects,
)
from pegboard_testing.snapshots import (
    SnapshotDiffers,
    compare,
)
from pegboard_testing.sync_client import (
    PlainClient,
)

__all__ = [
    "Answer",
    "Asked",
    "AuthProviderContract",
    "AuthenticatorContract",
    "BusContract",
    "CallError",
    "CallResult",
    "CommandContract",
    "Contract",
    "DefinitionCheckContract",
    "ErrorAdapterContract",
    "EventStoreContract",
    "FarEnd",
    "Lines",
    "Logged",
    "MethodContract",
    "MiddlewareContract",
    "ObserverContract",
    "PlainClient",
    "PromptGiven",
    "ReadResult",
    "RecordStoreContract",
    "RepeatedEffects",
    "Reported",
    "RouteContract",
    "SecretStoreContract",
    "SessionStoreContract",
    "SnapshotDiffers",
    "StreamProtocolContract",
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
    "new_record",
    "reply",
    "rule",
]
