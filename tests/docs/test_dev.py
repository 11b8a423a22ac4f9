"""The examples of the page about `pegboard dev` equal the output at a terminal and in a pipe."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import Page
from tests.support.typist import Typist, plain
from tests.support.wire import client_environment

DEV = Page("docs/dev.md")
TYPED = re.compile(r"^(dev> |  .*: )(.+)$", re.M)


def test_the_session_of_a_terminal(tmp_path: Path) -> None:
    first, _, session = DEV.blocks["text session"].partition("\n")
    command = [sys.executable, "-m", *shlex.split(first)[1:]]
    with Typist(command, DEV.write(tmp_path), client_environment(tmp_path, {"TERM": "xterm"})) as user:
        seen = ""
        for prompt, line in TYPED.findall(session):
            seen += user.sees(prompt)
            user.types(f"{line}\n")
        seen += user.sees("tea for Ada\n")
        seen += user.sees("dev> ")
    assert plain(seen).strip() == session.strip()


def test_the_script(tmp_path: Path) -> None:
    line = DEV.blocks["sh script"].replace("pegboard", f"{sys.executable} -m pegboard")
    env = client_environment(tmp_path)
    printed = subprocess.check_output(["sh", "-c", line], cwd=DEV.write(tmp_path), env=env, text=True)
    assert printed == DEV.blocks["text script"]
