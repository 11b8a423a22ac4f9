"""A server for the tests of a module, with the user that the documentation describes, and the toolkits of most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.pool import make_asking_site
from tests.support.redis_server import PREFIX, RedisServer


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    page = Path("docs/scale.md").read_text("utf-8")
    (rights,) = re.findall(r"```text\n~pegboard:(.*?)```", page, re.DOTALL)
    with RedisServer("--user", "pegboard", "on", ">secret", *f"~{PREFIX}{rights}".split()) as started:
        yield started


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_asking_site(tmp_path_factory.mktemp("site"))
