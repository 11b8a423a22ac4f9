"""The peers, and the environments in which they run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

from tools.comparison.environments import npm_environment, python_environment
from tools.install import ROOT

CACHE = ROOT / ".cache" / "peers"
SERVERS = Path(__file__).with_name("servers")
PYTHON_LIBRARIES = {
    "sdk1": ("mcp==1.30.0",),
    "sdk2": ("mcp==2.3.0",),
    "fastmcp": ("fastmcp==4.2.3", "-e", str(ROOT)),
    "arcade": ("arcade-mcp-server==1.32.1",),
}
"""The requirements of each environment. The program that mounts objects runs in that of FastMCP."""
NPM_PACKAGES = {
    "typescript_v1": ("@modelcontextprotocol/sdk@1.32.2", "zod@4"),
    "typescript_v2": ("@modelcontextprotocol/server@2.4.0", "@modelcontextprotocol/node@2.1.2", "zod@4"),
}


class PeerServer(NamedTuple):
    """A mounted server.

    Attributes:
        name: its name, also that of its section.
        library: the key of its environment; "pegboard" for this checkout.
        transport: "stdio", "sessions", "stateless" or "object".
        port: the port of a server over HTTP.
    """

    name: str
    library: str
    transport: str
    port: int = 0

    def command(self, transport: str | None = None) -> list[str]:
        """Return the command that serves it, over its own or another transport."""
        transport = transport or self.transport
        more = [self.name] if transport in ("stdio", "object") else [self.name, str(self.port), transport]
        if self.library == "pegboard":
            verb = ["serve", "--config", self._configuration()] if transport == "sessions" else ["stdio"]
            return [str(ROOT / ".venv" / "bin" / "pegboard"), *verb, "--file", str(SERVERS / "pegboard_peer.py")]
        if self.library in NPM_PACKAGES:
            return ["node", str(CACHE / self.library / f"{self.library}.mjs"), *more]
        script = "arcade_peer.py" if self.library == "arcade" else "library_peer.py"
        return [str(python_of(self.library)), str(SERVERS / script), *more]

    def _configuration(self) -> str:
        file = CACHE / f"{self.name}.toml"
        file.write_text(f'[host]\ntransports = ["http"]\n[plugins.http]\nport = {self.port}\n')
        return str(file)

    @property
    def env(self) -> dict[str, str]:
        """The environment variables of its process."""
        return {"PEER_NAME": f"peer {self.name}", "ARCADE_USAGE_TRACKING": "0"}

    def section(self) -> dict[str, Any]:
        """Return the section that mounts it; empty for an object."""
        if self.transport == "stdio":
            command, *args = self.command()
            return {"command": command, "args": args, "env": self.env}
        return {"url": f"http://127.0.0.1:{self.port}/mcp"} if self.port else {}


PEERS = (
    PeerServer("sdk1_stdio", "sdk1", "stdio"),
    PeerServer("sdk1_sessions", "sdk1", "sessions", 3911),
    PeerServer("sdk1_stateless", "sdk1", "stateless", 3912),
    PeerServer("sdk2_stdio", "sdk2", "stdio"),
    PeerServer("sdk2_http", "sdk2", "sessions", 3913),
    PeerServer("sdk2_object", "sdk2", "object"),
    PeerServer("fastmcp_stdio", "fastmcp", "stdio"),
    PeerServer("fastmcp_http", "fastmcp", "stateless", 3914),
    PeerServer("fastmcp_object", "fastmcp", "object"),
    PeerServer("ts1_stdio", "typescript_v1", "stdio"),
    PeerServer("ts1_sessions", "typescript_v1", "sessions", 3915),
    PeerServer("ts2_stdio", "typescript_v2", "stdio"),
    PeerServer("ts2_http", "typescript_v2", "stateless", 3916),
    PeerServer("arcade_stdio", "arcade", "stdio"),
    PeerServer("arcade_http", "arcade", "sessions", 3917),
    PeerServer("peg_stdio", "pegboard", "stdio"),
    PeerServer("peg_http", "pegboard", "sessions", 3918),
    PeerServer("peg_object", "pegboard", "object"),
)


def python_of(library: str) -> Path:
    """Return the interpreter of a Python library's environment."""
    return CACHE / f"venv-{library}" / "bin" / "python"


def prepare(overrides: Path | None = None) -> None:
    """Install each library in an environment of its own, unless an earlier run has.

    Raises:
        InstallFailed: a step failed. The message names the fix.
    """
    for library, requirements in PYTHON_LIBRARIES.items():
        python_environment(CACHE / f"venv-{library}", requirements, overrides)
    for library, packages in NPM_PACKAGES.items():
        npm_environment(CACHE / library, packages)
        shutil.copy(SERVERS / f"{library}.mjs", CACHE / library)
