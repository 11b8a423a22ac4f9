from arcade_mcp_server.exceptions import ToolExecutionError


def height_of(port: str, hour: int) -> float:
    if not port:
        raise ToolExecutionError("A port has a name")
    return len(port) + hour / 4
