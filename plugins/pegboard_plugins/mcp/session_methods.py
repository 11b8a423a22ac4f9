"""The methods of a session that the protocol answers by itself, the same over every binding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard import RequestId, jsonrpc_result
from pegboard_plugins.mcp.notices import check_level
from pegboard_plugins.mcp.session import Session


def answer_at_once(session: Session, request_id: RequestId, method: str, params: Mapping[str, Any]) -> bytes | None:
    """The response to a request that needs no host, None for one that does.

    Raises:
        ProtocolError: the parameters are not sound.
    """
    if method == "logging/setLevel":
        session.level = check_level(params.get("level"))
    elif method != "ping":
        return None
    return jsonrpc_result(request_id, b"{}")
