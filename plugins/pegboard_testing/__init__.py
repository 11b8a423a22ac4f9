"""pegboard_testing: tools for tests of toolkits and plugins. The host does not use them.

docs/testing.md describes the names.
"""

from pegboard.exports import exports

_HOMES = {
    "pegboard_client.asked": "Asked",
    ".answers": "Answer accept cancel decline reply",
    ".client": "Logged Reported TestClient",
    ".in_memory": "connect",
    ".contracts.definition_check_contract": "DefinitionCheckContract",
    ".contracts.error_adapter_contract": "ErrorAdapterContract",
    ".contracts.method_contract": "MethodContract",
    ".contracts.middleware_contract": "MiddlewareContract",
    ".contracts.observer_contract": "ObserverContract",
    ".contracts.protocol_contract": "StreamProtocolContract",
    ".contracts.route_contract": "RouteContract",
    ".contracts.auth_contracts": "AuthProviderContract TokenSourceContract",
    ".contracts.authenticator_contract": "AuthenticatorContract http_request",
    ".contracts.bus_contract": "BusContract",
    ".contracts.command_contract": "CommandContract",
    ".contracts.contract": "Contract rule",
    ".contracts.secret_store_contract": "SecretStoreContract WritableSecretStoreContract",
    ".contracts.record_contract": "RecordStoreContract new_record",
    ".contracts.store_contracts": "EventStoreContract SessionStoreContract",
    ".contracts.transport_contract": "FarEnd Lines TransportContract",
    ".effects": "effect",
    ".sync_client": "PlainClient",
    ".replay": "RepeatedEffects",
    ".client_results": "CallError CallResult PromptGiven ReadResult ToolFailed",
    ".snapshots": "SnapshotDiffers compare",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
