"""`python -m tools.arcade_toolkits`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import jwt

from pegboard_client import Client, Endpoint
from tools.arcade_toolkits.calls import CALLS, SECRETS, SMALL, TOKEN
from tools.arcade_toolkits.compare import definition_differences, mcp_differences, output_differences
from tools.arcade_toolkits.environments import CACHE, GENERATIONS, HERE, distributions, prepare, python_of
from tools.arcade_toolkits.fake_internet import FakeInternet
from tools.comparison.processes import running

SECRET = "a-secret-of-the-comparison-that-is-long-enough"  # noqa: S105 - of processes on this machine
PORTS = {"pegboard": 3930, "new": 3931, "old": 3932}
START_SECONDS = 400
MAX_DIFFERENT = 0.01
MIN_CALLS = 60
CONFIG = """[host]
autoload = false
tool_names = "pascal"
transports = ["http"]
[plugins.arcade]
names = ["*"]
[plugins.worker]
[plugins.http]
port = {port}
"""
TOKENS = ("GITHUB_TOKEN", "SLACK_TOKEN", "GOOGLE_TOKEN", "NOTION_TOKEN")
"""The variables with the tokens of the calls over MCP."""
CAPTURES = HERE / "captures"


class Worker:
    """The worker of a process."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session = session
        self._url = f"http://127.0.0.1:{port}/worker"

    async def definitions(self) -> dict[str, Any]:
        """Return the definitions by name. Wait until the process listens.

        Raises:
            SystemExit: it does not start.
        """
        for _ in range(START_SECONDS * 4):
            try:
                async with self._session.get(f"{self._url}/tools", headers=_proof()) as response:
                    return {tool["fully_qualified_name"]: tool for tool in await response.json()}
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.25)
        raise SystemExit(f"no worker listens at {self._url}: read the logs in {CACHE}")

    async def call(self, definition: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool with what it requires, and return the output."""
        needed = definition["requirements"]
        keys = [secret["key"] for secret in needed.get("secrets") or ()]
        context = {
            "user_id": "ada@acme.example",
            "authorization": {"token": TOKEN} if needed.get("authorization") else None,
            "secrets": [{"key": key, "value": SECRETS.get(key.upper(), "secret")} for key in keys],
            "metadata": [],
        }
        toolkit, _, name = definition["fully_qualified_name"].partition(".")
        tool = {"name": name, "toolkit": toolkit, "version": definition["toolkit"]["version"]}
        body = {"run_id": "1", "execution_id": "1", "created_at": "2026-01-01T00:00:00Z", "tool": tool}
        body |= {"inputs": dict(inputs), "context": context}
        async with self._session.post(f"{self._url}/tools/invoke", json=body, headers=_proof()) as response:
            answer = await response.json(content_type=None)
            return answer["output"] if response.status == 200 else {"error": {"kind": f"HTTP {response.status}"}}


class Result(NamedTuple):
    """A call in the original and in pegboard.

    Attributes:
        name: the tool and its inputs.
        original: the output of the original.
        differences: the differences of pegboard's output, and of its result over MCP.
    """

    name: str
    original: dict[str, Any]
    differences: list[str]


def _proof() -> dict[str, str]:
    claims = {"aud": "worker", "ver": "1", "exp": time.time() + 600}
    return {"Authorization": f"Bearer {jwt.encode(claims, SECRET, 'HS256')}"}


@asynccontextmanager
async def processes(site: Path, internet: FakeInternet) -> AsyncIterator[dict[str, Worker]]:
    """Serve all toolkits with pegboard, and each generation with its framework."""
    env = {**internet.environment, "PYTHONPATH": str(site), "ARCADE_WORKER_SECRET": SECRET}
    env |= {**dict.fromkeys(TOKENS, TOKEN), **SECRETS, "HOME": str(CACHE)}
    silent = {"ARCADE_USAGE_TRACKING": "0", "OTEL_SDK_DISABLED": "true"}
    config = CACHE / "hostconfig.toml"
    config.write_text(CONFIG.format(port=PORTS["pegboard"]), "utf-8")
    commands = {"pegboard": [str(python_of("pegboard")), "-m", "pegboard", "serve", "--config", str(config)]}
    for generation in GENERATIONS:
        script = [str(python_of(generation)), str(HERE / "serve_original.py"), str(PORTS[generation]), SECRET]
        commands[generation] = [*script, *distributions(generation)]
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        for name, command in commands.items():
            await stack.enter_async_context(running(command, CACHE / f"{name}.log", env | silent))
        yield {name: Worker(session, port) for name, port in PORTS.items()}


def mcp_endpoint() -> Endpoint:
    """Return the MCP server of pegboard, for its operator. The process listens."""
    token = (CACHE / ".local" / "state" / "pegboard" / "operator-token").read_text("utf-8").strip()
    return Endpoint(f"http://127.0.0.1:{PORTS['pegboard']}/mcp", {"Authorization": f"Bearer {token}"})


async def compare_calls(
    definitions: dict[str, dict[str, Any]], workers: dict[str, Worker], client: Client
) -> AsyncIterator[Result]:
    """Call each tool in the original, in pegboard, and over MCP."""
    for toolkit, calls in CALLS.items():
        for tool, inputs in calls:
            name = f"{toolkit}.{tool}"
            generation = next(key for key in GENERATIONS if name in definitions[key])
            original = await workers[generation].call(definitions[generation][name], inputs)
            own = await workers["pegboard"].call(definitions["pegboard"][name], inputs)
            result = await client.call(f"{toolkit}_{tool}", inputs)
            lines = [*output_differences(original, own), *mcp_differences(own, result)]
            yield Result(f"{name} {json.dumps(inputs)}", original, lines)


def captured(output: dict[str, Any]) -> dict[str, Any]:
    """Return the members of an output that are kept: no text of a programming error."""
    error = output.get("error")
    if error is not None:
        shown = {key: value for key, value in error.items() if key != "developer_message"}
        error = {**shown, "stacktrace": error.get("stacktrace") and "(left out)"}
    return {"value": output.get("value"), "error": error}


def write_captures(definitions: dict[str, dict[str, Any]], results: list[Result]) -> None:
    """Keep the answers of the framework for the small toolkits."""
    small = tuple(f"{toolkit}." for toolkit in SMALL)
    originals = {name: tool for key in GENERATIONS for name, tool in definitions[key].items() if name.startswith(small)}
    kept = [[result.name, captured(result.original)] for result in results if result.name.startswith(small)]
    CAPTURES.mkdir(exist_ok=True)
    for name, value in (("definitions", originals), ("outputs", kept)):
        rows = value.items() if isinstance(value, dict) else value
        lines = ",\n".join(json.dumps([key, row], ensure_ascii=False, sort_keys=True) for key, row in rows)
        (CAPTURES / f"{name}.json").write_text(f"[\n{lines}\n]\n", "utf-8")


def report_definitions(definitions: dict[str, dict[str, Any]], reviewed: Mapping[str, str]) -> bool:
    """Print the differences of definitions. Return False if one is not reviewed, or too many differ."""
    originals = {name: tool for key in GENERATIONS for name, tool in definitions[key].items()}
    different = {
        name: lines
        for name, tool in originals.items()
        if (lines := definition_differences(tool, definitions["pegboard"].get(name)))
    }
    for name, lines in different.items():
        print(name, reviewed.get(name, "NOT REVIEWED"), *lines, sep="\n    ")
    for name in definitions["pegboard"].keys() - originals.keys():
        print(f"{name} exists only in pegboard: {reviewed.get(name, 'NOT REVIEWED')}")
    share = len(different) / len(originals)
    print(f"{len(originals) - len(different)} of {len(originals)} definitions are equal")
    return different.keys() <= reviewed.keys() and share <= MAX_DIFFERENT


def report_calls(results: list[Result], reviewed: Mapping[str, str]) -> bool:
    """Print the differences of calls. Return False if one is not reviewed, or there are too few calls."""
    different = [result for result in results if result.differences]
    for result in different:
        print(result.name, reviewed.get(result.name, "NOT REVIEWED"), *result.differences, sep="\n    ")
    succeeded = sum(result.original.get("error") is None for result in results)
    print(f"{len(results) - len(different)} of {len(results)} calls are equal; {succeeded} of them succeed")
    return {result.name for result in different} <= reviewed.keys() and len(results) >= MIN_CALLS


async def main(*, write: bool, verbose: bool) -> bool:
    """Compare everything."""
    site = prepare()
    reviewed = tomllib.loads((HERE / "reviewed.toml").read_text("utf-8"))
    async with FakeInternet(CACHE) as internet, processes(site, internet) as workers:
        definitions = {name: await worker.definitions() for name, worker in workers.items()}
        is_equal = report_definitions(definitions, reviewed["definitions"])
        async with Client(mcp_endpoint()) as client:
            results = [result async for result in compare_calls(definitions, workers, client)]
        is_equal = report_calls(results, reviewed["calls"]) and is_equal
        for request, count in internet.unknown.items():
            print(f"no service answers {request} ({count} times)")
    for result in results if verbose else ():
        error = result.original.get("error")
        print(f"{result.name}: {json.dumps(result.original.get('value') if error is None else error['message'])[:160]}")
    if write:
        write_captures(definitions, results)
    return is_equal


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.arcade_toolkits", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the captures of the small toolkits")
    parser.add_argument("--verbose", action="store_true", help="print the result of each call")
    options = parser.parse_args()
    sys.exit(not asyncio.run(main(write=options.write, verbose=options.verbose)))
