"""The toolkit, the state that its tools share, and the decorators that declare them."""

from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

from pegboard import RetryableToolError, ToolAnnotations, ToolExecutionError, Toolkit
from toolkit_files.config import FilesConfig
from toolkit_files.patterns import Globs
from toolkit_files.problems import FileProblem
from toolkit_files.roots import Roots

__all__ = ["Files", "adds", "changes", "kit", "reads"]

P = ParamSpec("P")
R = TypeVar("R")

kit = Toolkit(
    "files",
    config=FilesConfig,
    title="Files",
    description="List, read and search files below configured directories; change them if allowed.",
)


class Files(NamedTuple):
    """The roots of one host, and the entries that searches skip."""

    roots: Roots
    ignore: Globs


@kit.lifespan
async def _open_roots(config: FilesConfig) -> AsyncIterator[Files]:
    yield Files(Roots(config.roots, deny=config.deny, allow=config.allow, protect=config.protect), Globs(config.ignore))


def reads(title: str, name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a function as a read-only tool."""
    return _tool(title, ToolAnnotations(read_only=True, open_world=False), name=name)


def adds(title: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a function as a tool that only adds. The tool requires that writing is allowed."""
    hints = ToolAnnotations(read_only=False, destructive=False, idempotent=True, open_world=False)
    return _tool(title, hints, enabled=_may_write)


def changes(title: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a function as a tool that replaces, moves or deletes. The tool requires that writing is allowed."""
    hints = ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=False)
    return _tool(title, hints, enabled=_may_write)


def _tool(
    title: str,
    annotations: ToolAnnotations,
    *,
    name: str | None = None,
    enabled: Callable[[FilesConfig], bool] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def declare(function: Callable[P, R]) -> Callable[P, R]:
        return kit.tool(name=name, title=title, annotations=annotations, enabled=enabled)(_answers(function))

    return declare


def _may_write(config: FilesConfig) -> bool:
    return config.write


def _answers(function: Callable[P, R]) -> Callable[P, R]:
    """Convert problems of a tool into errors of the host."""

    @wraps(function)
    def answering(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except FileProblem as problem:
            kind = RetryableToolError if problem.correctable else ToolExecutionError
            raise kind(problem.message) from None

    return answering
