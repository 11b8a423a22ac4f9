"""A toolkit that cannot work without a setting, and is particular about the others."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pegboard import Context, PluginConfig, Toolkit


class WeatherConfig(PluginConfig):
    """`[toolkits.weather]`."""

    station: str
    days: int = Field(default=3, ge=1, le=14)
    units: Literal["metric", "imperial"] = "metric"


kit = Toolkit("weather", config=WeatherConfig)


@kit.tool
def forecast(context: Context) -> str:
    """Tell the weather."""
    return f"{context.config.station}: fair for {context.config.days} days"
