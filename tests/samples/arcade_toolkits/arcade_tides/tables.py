from typing import Annotated, Any, Optional

import arcade_mcp_server as arcade
from arcade_mcp_server import tool
from pydantic import BaseModel
from tides_library import height_of


class Port(BaseModel):
    name: str
    hours: list[int] = [0, 6]
    zone: Optional[str] = None


@tool
async def list_tides(
    ports: Annotated[list[Port], "The ports"],
    unit: Annotated[str, "metres", "The unit"] = "m",
) -> Annotated[dict[str, Any], "The heights of each port"]:
    """List the heights of the tides."""
    return {port["name"]: [height_of(port["name"], hour) for hour in port["hours"]] for port in ports}


@arcade.tool
def tide_height(
    port: Annotated[str, "The name of the port"], hour: Annotated[int, "The hour"] = 0
) -> Annotated[float, "The height"]:
    """Tell the height of the tide."""
    return height_of(port, hour)


@tool.deprecated("use TideHeight")
@tool
def old_height(port: Annotated[str, "The name of the port"]) -> Annotated[list[str], "The height"]:
    """Tell the height, as before."""
    return [f"{height_of(port, 0):g} m", "ü"]
