"""A package index (PEP 503) of the files in a folder, for rehearsals. Names that the folder does not have are PyPI's.

    with serving(Path("dist")) as url:
        subprocess.run(["pip", "install", "--index-url", url, "pegboard"])

It redirects other names to the index of `PIP_INDEX_URL`, or to PyPI. So a distribution of the folder is never replaced
by one that has the same name there. `twine upload --repository-url URL` adds files to the folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import HTTP
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PYPI = "https://pypi.org/simple"


def name_of(file: str) -> str:
    """Return the normalised name (PEP 503) of the distribution that a wheel or sdist belongs to."""
    return re.sub("[-_.]+", "-", file.partition("-")[0]).lower()


class _Handler(SimpleHTTPRequestHandler):
    """Answers `/simple/NAME/` with links to files, and `/FILE` with the file."""

    def do_GET(self) -> None:
        name = re.fullmatch(r"/simple/([^/]+)/?", self.path)
        if name is None:
            super().do_GET()
            return
        links = [
            f'<a href="/{file.name}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}">{file.name}</a>'
            for file in sorted(Path(self.directory).iterdir())
            if name_of(file.name) == name[1]
        ]
        if links:
            page = "\n".join(["<!DOCTYPE html>", *links]).encode()
            self._answer(HTTPStatus.OK, page, {"Content-Type": "text/html", "Cache-Control": "no-store"})
        else:
            index = os.environ.get("PIP_INDEX_URL", PYPI).rstrip("/")
            self._answer(HTTPStatus.FOUND, b"", {"Location": f"{index}/{name[1]}/"})

    def do_POST(self) -> None:
        """Store the file of an upload (https://docs.pypi.org/api/upload/)."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        for part in message_from_bytes(head + body, policy=HTTP).iter_parts():
            if (file := part.get_filename()) is not None:
                content = part.get_payload(decode=True)
                assert isinstance(content, bytes)
                (Path(self.directory) / Path(file).name).write_bytes(content)
        self._answer(HTTPStatus.OK, b"", {})

    def _answer(self, status: HTTPStatus, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for header, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback during a block. Yield the URL of the index."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
