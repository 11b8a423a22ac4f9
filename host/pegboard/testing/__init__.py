"""pegboard.testing: for the tests of those who write toolkits and plugins. The host itself uses nothing of it.

Names are loaded on first use; docs/testing.md tells what they are for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.testing.answers import Answer, Asked, accept, cancel, decline, reply
    from pegboard.testing.client import Logged, Reported, TestClient
    from pegboard.testing.connecting import connect
    from pegboard.testing.contracts.adapters import ErrorAdapterContract
    from pegboard.testing.contracts.authorization import AuthProviderContract, TokenSourceContract
    from pegboard.testing.contracts.base import Contract, rule
    from pegboard.testing.contracts.far_end import FarEnd, Lines
    from pegboard.testing.contracts.secret_stores import SecretStoreContract
    from pegboard.testing.contracts.sessions import EventStoreContract, SessionStoreContract, session_record
    from pegboard.testing.contracts.transports import TransportContract
    from pegboard.testing.effects import effect
    from pegboard.testing.plain import PlainClient
    from pegboard.testing.replay import RepeatedEffects
    from pegboard.testing.results import CallError, CallResult, PromptGiven, ReadResult, ToolFailed
    from pegboard.testing.snapshots import SnapshotDiffers, compare

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

_NAMES = {
    "answers": "Answer Asked accept cancel decline reply",
    "client": "Logged Reported TestClient",
    "connecting": "connect",
    "contracts.adapters": "ErrorAdapterContract",
    "contracts.authorization": "AuthProviderContract TokenSourceContract",
    "contracts.base": "Contract rule",
    "contracts.secret_stores": "SecretStoreContract",
    "contracts.sessions": "EventStoreContract SessionStoreContract session_record",
    "contracts.far_end": "FarEnd Lines",
    "contracts.transports": "TransportContract",
    "effects": "effect",
    "plain": "PlainClient",
    "replay": "RepeatedEffects",
    "results": "CallError CallResult PromptGiven ReadResult ToolFailed",
    "snapshots": "SnapshotDiffers compare",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
