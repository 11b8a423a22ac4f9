"""`pegboard tasks` and `pegboard call --task` beside a server, and the client of tasks."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pegboard.errors import ProtocolError
from pegboard_client import TaskCancelledError
from tests.host.hosting import until
from tests.plugins.protocols.tasks import jobs_kit
from tests.plugins.protocols.tasks.kills import ANSWER, server
from tests.support.pool import make_site
from tests.support.typist import heed_interrupts
from tests.support.wire import PEGBOARD, client_environment

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(120)]


async def command(folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    environment = client_environment(folder, {"PYTHONPATH": str(folder), "PEGBOARD_STATE_DIR": str(folder / "state")})
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        str(PEGBOARD),
        *arguments,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=heed_interrupts,
    )


async def output(folder: Path, *arguments: str) -> Any:
    process = await command(folder, *arguments, "--json", "--config", "hostconfig.toml")
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return json.loads(out)


async def test_the_operator_and_clients_see_the_same_tasks(tmp_path: Path) -> None:
    make_site(tmp_path, {"jobs": jobs_kit})
    async with server(tmp_path) as (url, client):
        states = list[Any]()

        async def ask(question: Any) -> Any:
            return ANSWER

        result = await client.call_as_task("jobs_ask", {"name": "corn"}, watch=states.append, ask=ask)
        assert result["content"][0]["text"] == "corn True"
        assert [states[0]["status"], states[-1]["status"]] == ["working", "completed"]
        with pytest.raises(ProtocolError, match="broken"):
            await client.call_as_task("jobs_fail")
        holding = asyncio.create_task(client.call_as_task("jobs_hold", watch=states.append))
        await until(lambda: states[-1].get("statusMessage") == "half is done")
        await client.cancel_task(states[-1]["taskId"])
        with pytest.raises(TaskCancelledError):
            await holding

        by_url = await command(tmp_path, "call", "jobs_fail", "--task", "--url", url)
        assert b"broken" in (await by_url.communicate())[1]
        shown = await command(tmp_path, "call", "jobs_hold", "--task", "--config", "hostconfig.toml")
        assert shown.stderr is not None
        try:
            begun = (await shown.stderr.readline()).decode()
            while b"half is done" not in (line := await shown.stderr.readline()):
                assert line, "the command has ended"
            shown.send_signal(signal.SIGINT)
            _, rest = await shown.communicate()
        finally:
            with suppress(ProcessLookupError):
                shown.kill()
        task_id = begun.split()[3]
        assert f"--resume {task_id}" in rest.decode()

        listed = await output(tmp_path, "tasks", "list")
        assert {row["status"] for row in listed} == {"working", "completed", "failed", "cancelled"}
        assert (await output(tmp_path, "tasks", "show", task_id[:8]))["message"] == "half is done"
        assert (await output(tmp_path, "tasks", "cancel", task_id))["status"] == "cancelled"
        resumed = await command(tmp_path, "call", "jobs_hold", "--resume", task_id, "--config", "hostconfig.toml")
        assert f"{task_id} was cancelled" in (await resumed.communicate())[1].decode()
