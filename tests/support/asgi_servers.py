"""ASGI servers in an environment of their own, with the installed host and FastAPI."""

from __future__ import annotations

from tests.support.environments import built_wheels, executable, make_environment
from tests.support.sdk import SCRIPTS

SERVERS = ("uvicorn", "hypercorn")
HOST_SCRIPT = SCRIPTS / "asgi_host.py"
"""A module with a host of `hostconfig.toml` as the applications `alone` and `mounted`."""
REQUIREMENTS = ("uvicorn==0.54.0", "hypercorn==0.18.0", "fastapi==0.165.0")


def serve_command(server: str, app: str) -> list[str]:
    """Return the command that serves an application of a module, such as "shop:app", in the working directory."""
    python = executable(make_environment("asgi", "pegboard", *REQUIREMENTS, wheels=built_wheels()))
    return [str(python), str(SCRIPTS / "listen.py"), server, app]
