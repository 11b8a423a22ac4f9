"""docs/telemetry.md: the configurations load, and the tables have the metrics that a host serves."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard_plugins.operation.opentelemetry import OpenTelemetryConfig
from pegboard_plugins.operation.prometheus import PrometheusConfig, metrics_endpoint
from pegboard_plugins.operation.prometheus.metrics_endpoint import MetricsEndpoint
from tests.docs.pages import Page

PAGE = Page("docs/telemetry.md")


@pytest.mark.parametrize("block", ["otel", "prometheus", "token"])
def test_the_configurations_are_valid(block: str) -> None:
    models: dict[str, Any] = {"opentelemetry": OpenTelemetryConfig, "prometheus": PrometheusConfig}
    plugins = tomllib.loads(PAGE.blocks[f"toml {block}"].replace('{ env = "METRICS_TOKEN" }', f'"{"0f1e2d3c" * 4}"'))
    for name, section in plugins["plugins"].items():
        assert models[name](**section)


async def test_the_tables_have_all_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoints: list[MetricsEndpoint] = []

    class Noted(MetricsEndpoint):
        def __init__(self, config: PrometheusConfig) -> None:
            super().__init__(config)
            endpoints.append(self)

    monkeypatch.setattr(metrics_endpoint, "MetricsEndpoint", Noted)
    mount = {"math": Host({"host": {"autoload": False}}, toolkits={"math": Toolkit("math")})}
    plugins: dict[str, Any] = {"http": {}, "prometheus": {"port": 0}}
    async with Host({"host": {"autoload": False}, "plugins": plugins}, mount=mount):
        served = {metric.name for metric in endpoints[0].metrics.collect()}
    shown = re.findall(r"^\| (`.*?) \|", PAGE, re.M)
    listed = {name for cell in shown for name in re.findall(r"`(\w+)`", cell)} - {"opentelemetry", "prometheus"}
    names = {name.removesuffix("_total") for name in listed if not name.isupper()}
    assert {name if name.startswith("pegboard_") else f"pegboard_{name}" for name in names} == served
