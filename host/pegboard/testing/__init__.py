"""pegboard.testing: tools for tests of toolkits and plugins. The host does not use them.

docs/testing.md describes the names.
"""

from pegboard.exports import exports

_HOMES = {
    "client.asked": "Asked",
    "testing.answers": "Answer accept cancel decline reply",
    "testing.client": "Logged Reported TestClient",
    "testing.in_memory": "connect",
    "testing.contracts.error_adapter_contract": "ErrorAdapterContract",
    "testing.contracts.http_requests": "http_request",
    "testing.contracts.middleware_contract": "MiddlewareContract",
    "testing.contracts.route_contract": "RouteContract",
    "testing.contracts.auth_contracts": "AuthProviderContract TokenSourceContract",
    "testing.contracts.authenticator_contract": "AuthenticatorContract",
    "testing.contracts.command_contract": "CommandContract",
    "testing.contracts.contract": "Contract rule",
    "testing.contracts.secret_store_contract": "SecretStoreContract WritableSecretStoreContract",
    "testing.contracts.store_contracts": "EventStoreContract SessionStoreContract session_record",
    "testing.contracts.stream_clients": "FarEnd Lines",
    "testing.contracts.transport_contract": "TransportContract",
    "testing.effects": "effect",
    "testing.sync_client": "PlainClient",
    "testing.replay": "RepeatedEffects",
    "testing.client_results": "CallError CallResult PromptGiven ReadResult ToolFailed",
    "testing.snapshots": "SnapshotDiffers compare",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
