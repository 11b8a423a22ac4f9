# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.testing.answers import (
    Answer,
    Asked,
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
from pegboard.testing.connecting import (
    connect,
)
from pegboard.testing.contracts.adapters import (
    ErrorAdapterContract,
)
from pegboard.testing.contracts.authorization import (
    AuthProviderContract,
    TokenSourceContract,
)
from pegboard.testing.contracts.base import (
    Contract,
    rule,
)
from pegboard.testing.contracts.far_end import (
    FarEnd,
    Lines,
)
from pegboard.testing.contracts.secret_stores import (
    SecretStoreContract,
)
from pegboard.testing.contracts.sessions import (
    EventStoreContract,
    SessionStoreContract,
    session_record,
)
from pegboard.testing.contracts.transports import (
    TransportContract,
)
from pegboard.testing.effects import (
    effect,
)
from pegboard.testing.plain import (
    PlainClient,
)
from pegboard.testing.replay import (
    RepeatedEffects,
)
from pegboard.testing.results import (
    CallError,
    CallResult,
    PromptGiven,
    ReadResult,
    ToolFailed,
)
from pegboard.testing.snapshots import (
    SnapshotDiffers,
    compare,
)

__all__ = [
    "Answer",
    "Asked",
    "AuthProviderContract",
    "CallError",
    "CallResult",
    "Contract",
    "ErrorAdapterContract",
    "EventStoreContract",
    "FarEnd",
    "Lines",
    "Logged",
    "PlainClient",
    "PromptGiven",
    "ReadResult",
    "RepeatedEffects",
    "Reported",
    "SecretStoreContract",
    "SessionStoreContract",
    "SnapshotDiffers",
    "TestClient",
    "TokenSourceContract",
    "ToolFailed",
    "TransportContract",
    "accept",
    "cancel",
    "compare",
    "connect",
    "decline",
    "effect",
    "reply",
    "rule",
    "session_record",
]
