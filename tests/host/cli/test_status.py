"""`pegboard` without a command."""

from __future__ import annotations

from tests.support.command_line import Command


def test_the_status_shows_what_is_enabled_from_where_and_the_next_command(pegboard: Command) -> None:
    pegboard.configure('plugins = ["timing"]', '[plugins.http]\n[toolkits.demo]\nword = "moin"')
    done = pegboard()
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].endswith(f", {pegboard.folder / 'hostconfig.toml'}")
    named = [line for line in lines if line.startswith("  plugin ")]
    assert named == ["  plugin http (hostconfig.toml:4)", "  plugin timing (hostconfig.toml:3)"]
    (demo,) = [line for line in lines if line.startswith("  toolkit demo: ")]
    assert demo.endswith(" tokens (hostconfig.toml:5)")
    assert lines[-2].startswith("next: `pegboard configure CLIENT` ")
    assert "`pegboard list` lists the tools" in lines[-1]
    state = pegboard("--json").data
    assert f"{state['tools']} tools, about {state['tokens']} tokens" in lines[1]
    assert (state["problems"], state["next"]) == ([], "pegboard configure CLIENT")


def test_the_status_wraps_the_list_of_plugins_at_the_width_of_the_terminal(pegboard: Command) -> None:
    narrow, wide = (pegboard(env={"COLUMNS": columns}).out for columns in ("60", "90"))
    lines = [
        line
        for line in narrow.partition("next:")[0].splitlines()
        if line.startswith(("  plugins by default: ", "    "))
    ]
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    assert narrow.split() == wide.split()


def test_the_status_of_a_broken_or_empty_host_names_the_next_command(bare: Command) -> None:
    assert "next: `pegboard new server notes`" in bare().out
    bare.write("[host")
    assert "problem: hostconfig.toml:1:" in bare().out
    bare.configure("nmae = 1")
    done = bare()
    assert done.code == 0
    assert "problem: hostconfig.toml:3: host.nmae: " in done.out
    assert "next: `pegboard doctor`" in done.out
