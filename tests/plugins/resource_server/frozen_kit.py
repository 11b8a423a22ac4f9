"""A toolkit without tools that stops the clock for tokens at FROZEN_NOW.

A process under test finds it in a folder.
"""

from __future__ import annotations

import datetime
import os

import jwt.api_jwt

from pegboard import Toolkit
from pegboard_plugins.resource_server import introspection, jwt_verifier, token_authenticator

kit = Toolkit("frozen")

NOW = float(os.environ["FROZEN_NOW"])


class _Frozen(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Frozen:
        return cls.fromtimestamp(NOW, tz)


jwt.api_jwt.datetime = _Frozen  # type: ignore[attr-defined]  # the library has no clock to be given
for _module in (introspection, jwt_verifier, token_authenticator):
    _module.time = lambda: NOW  # type: ignore[attr-defined]
