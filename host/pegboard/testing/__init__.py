"""pegboard.testing: for the tests of those who write toolkits and plugins. The host itself uses nothing of it.

docs/testing.md tells what the names are for.
"""

from pegboard.exports import exports

_HOMES = {
    "testing.answers": "Answer Asked accept cancel decline reply",
    "testing.client": "Logged Reported TestClient",
    "testing.connecting": "connect",
    "testing.contracts.adapters": "ErrorAdapterContract",
    "testing.contracts.authorization": "AuthProviderContract TokenSourceContract",
    "testing.contracts.base": "Contract rule",
    "testing.contracts.secret_stores": "SecretStoreContract",
    "testing.contracts.sessions": "EventStoreContract SessionStoreContract session_record",
    "testing.contracts.far_end": "FarEnd Lines",
    "testing.contracts.transports": "TransportContract",
    "testing.effects": "effect",
    "testing.plain": "PlainClient",
    "testing.replay": "RepeatedEffects",
    "testing.results": "CallError CallResult PromptGiven ReadResult ToolFailed",
    "testing.snapshots": "SnapshotDiffers compare",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
