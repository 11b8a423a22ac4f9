"""The examples of docs/in-process.md work as shown."""

from __future__ import annotations

import pytest

from tests.docs.pages import Page

PAGE = Page("docs/in-process.md")


async def test_the_tool_of_the_mounted_host_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    module = PAGE.module("mounted_shop.py")
    await module.main()
    assert "'text': '350'" in capsys.readouterr().out
    code = "host = " + PAGE.blocks["python options"]
    exec(code, vars(module))
    async with module.host:
        await module.main.__globals__["host"].dispatch(module.Call("tools/list", {}))
        assert list(module.host.assembly.tools) == ["price"]
