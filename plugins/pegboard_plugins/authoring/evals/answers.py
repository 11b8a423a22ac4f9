"""The answers of models: requested concurrently, stored one per line, and read again."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import ClientSession, TCPConnector

from pegboard.errors import MCPError
from pegboard.terminal import clear_progress, show_progress
from pegboard_evals import ActualCall, EvalCase, MCPToolDefinition
from pegboard_plugins.authoring.evals.model_endpoints import Model, Pace, UnansweredError, ask_model
from pegboard_plugins.support.line_file import LineFile

CONSTANT_SEED = 42

Key = tuple[str, str, str, int]
"""The model, the suite, the case and the number of the run."""


class Job(NamedTuple):
    """One run of a case with a model."""

    suite: str
    case: EvalCase
    tools: Sequence[MCPToolDefinition]
    model: Model | str
    run: int

    @property
    def key(self) -> Key:
        """The key of the run's answer."""
        return str(self.model), self.suite, self.case.name, self.run

    @property
    def digest(self) -> str:
        """The hash of all that the model gets. An answer to another request is not reused."""
        case = self.case
        request = [case.system_message, case.additional_messages, case.user_message, [*map(dict, self.tools)]]
        return hashlib.sha256(json.dumps(request, sort_keys=True, default=dict).encode()).hexdigest()[:16]


class Answer(NamedTuple):
    """The tool calls of a model, or the error."""

    calls: list[ActualCall]
    digest: str = ""
    error: str | None = None


def read_answers(file: Path) -> dict[Key, Answer]:
    """Return the answers in a file. If a run has several answers, the last one counts.

    Raises:
        MCPError: a line is invalid.
    """
    answers: dict[Key, Answer] = {}
    for number, line in enumerate(file.read_text("utf-8").split("\n"), 1):  # a string may have other line breaks
        try:
            row = json.loads(line)
            model, suite, case, run = row["key"]
            calls = [(str(name), dict(arguments)) for name, arguments in row["calls"]]
            answers[str(model), str(suite), str(case), int(run)] = Answer(calls, row["digest"])
        except (LookupError, TypeError, ValueError):
            if line.strip():
                raise MCPError(f"line {number} of {file} is no answer of a model: delete the line") from None
    return answers


async def ask_models(
    jobs: Sequence[Job], known: Mapping[Key, Answer], file: Path | None, limits: Mapping[str, Any]
) -> dict[Key, Answer]:
    """Ask the models for the answers that are not known. Store each answer in a file as it comes.

    Args:
        jobs: the requests.
        known: answers of an earlier run. Those to the same request are kept.
        file: the file that gets the new answers; None for none.
        limits: `concurrency`, the number of concurrent requests; `rate`, the number per minute; `seed`.
    """
    kept = {job.key: known[job.key] for job in jobs if job.key in known and known[job.key].digest == job.digest}
    new = [job for job in jobs if job.key not in kept]
    pace, turns, lines = Pace(limits["rate"]), asyncio.Semaphore(limits["concurrency"]), file and LineFile(file)
    done = len(kept)

    async def ask(session: ClientSession, job: Job) -> None:
        nonlocal done
        async with turns:
            assert isinstance(job.model, Model)
            try:
                calls = await ask_model(session, pace, job.model, job.case, job.tools, _seed(limits["seed"]))
                kept[job.key] = Answer(calls, job.digest)
                if lines:
                    row = {"key": job.key, "digest": job.digest, "calls": calls}
                    lines.write(json.dumps(row, ensure_ascii=False).encode())
            except UnansweredError as error:
                kept[job.key] = Answer([], error=str(error))
        done += 1
        show_progress({"progress": done, "total": len(jobs), "message": f"{job.model} {job.case.name}"})

    try:
        async with ClientSession(connector=TCPConnector(limit=0)) as session, asyncio.TaskGroup() as group:
            for job in new:
                group.create_task(ask(session, job))
    finally:
        clear_progress()
    return kept


def _seed(policy: str) -> int:
    """Return the seed of a request for a policy: "constant", "random", or a number."""
    if policy == "random":
        return random.randrange(2**31)  # noqa: S311 - not secret
    return CONSTANT_SEED if policy == "constant" else int(policy)
