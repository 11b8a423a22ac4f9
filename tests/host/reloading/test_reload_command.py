"""The hosts that `pegboard reload` chooses and names."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.support.command_line import Command


@contextmanager
def serving(command: Command, *options: str) -> Iterator[int]:
    """Run `pegboard serve` with options. Yield its process id."""
    line = command.arguments("serve", "--port", "0", *options)
    environ = command.environment({"PEGBOARD_CONFIG": None})
    with subprocess.Popen(line, cwd=command.site, env=environ, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            assert any("next: " in text for text in server.stderr)
            yield server.pid
        finally:
            server.terminate()


@pytest.fixture
def by_file(bare: Command) -> Iterator[dict[str, int]]:
    """The processes of three hosts, the last without a file."""
    with ExitStack() as stack:
        files = {name: str(bare.write("[host]\n", name)) for name in ("one.toml", "two.toml")}
        pids = {file: stack.enter_context(serving(bare, "--config", file)) for file in files.values()}
        yield pids | {"": stack.enter_context(serving(bare))}


def test_each_host_has_its_file_or_its_url(bare: Command, by_file: dict[str, int]) -> None:
    assert {host["config"] or "": host["pid"] for host in bare("reload", "--json").data} == by_file
    shown = bare("reload").out
    for file, pid in by_file.items():
        assert f"process {pid} ({file or 'http://127.0.0.1:'}" in shown


def test_the_option_config_chooses_the_hosts_of_a_file(bare: Command, by_file: dict[str, int]) -> None:
    (bare.folder / "link.toml").symlink_to("two.toml")
    (host,) = bare("reload", "--config", "link.toml", "--json").data
    assert host["pid"] == by_file[str(bare.folder / "two.toml")]
    done = bare("reload", "--config", "three.toml")
    assert (done.code, done.out) == (1, "")
    assert "no running host has the configuration" in done.err
    assert "one.toml" in done.err
