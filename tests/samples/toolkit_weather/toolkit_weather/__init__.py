"""A toolkit that cannot work without a setting."""

from __future__ import annotations

from pegboard import Context, PluginConfig, Toolkit


class WeatherConfig(PluginConfig):
    """`[toolkits.weather]`."""

    station: str


kit = Toolkit("weather", config=WeatherConfig)


@kit.tool
def forecast(context: Context) -> str:
    """Tell the weather."""
    return f"{context.config.station}: fair"
