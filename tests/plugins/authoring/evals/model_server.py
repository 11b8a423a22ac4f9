"""A server that answers as models do, in both forms, with a script for each message."""

from __future__ import annotations

import json
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Lock, Thread
from typing import Any, Self

Step = Any
"""A list of calls, or the number of a status, or "garbage", "cut", "endless" or "invalid arguments"."""


class ModelServer(ThreadingHTTPServer):
    """Answers each message with the next step of its script, and then with the last.

    Attributes:
        scripts: the steps of each message of the user. A message without a script is answered without a call.
        requests: the path, the headers and the body of each request.
        most: the greatest number of requests at a time.

    Args:
        scripts: the steps of each message of the user.
        together: the number of requests that are answered together.
    """

    def __init__(self, scripts: dict[str, list[Step]], together: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.gate = Barrier(together, timeout=30)
        self.running = 0
        self.most = 0
        self.scripts = scripts
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.lock = Lock()
        self.thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def step(self, body: Any) -> Step:
        content = body["messages"][-1]["content"]
        message = content if isinstance(content, str) else content[-1]["text"]
        with self.lock:
            steps = self.scripts.get(message, [[]])
            return steps.pop(0) if len(steps) > 1 else steps[0]


class Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append((self.path, dict(self.headers), body))
            self.server.running += 1
            self.server.most = max(self.server.most, self.server.running)
        self.server.gate.wait()
        with self.server.lock:
            self.server.running -= 1
        step = self.server.step(body)
        if step == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
        elif step == "endless":
            self.send_response(200)
            self.end_headers()
            with suppress(ConnectionError):
                while True:
                    self.wfile.write(b" " * 1_000_000)
        elif isinstance(step, int):
            self.answer(step, {"error": {"message": f"no, {self.headers.get('Authorization')}"}}, {"Retry-After": "0"})
        elif step == "garbage":
            self.answer(200, ["garbage"])
        else:
            self.answer(200, anthropic(step) if self.path.endswith("/messages") else openai(step))

    def answer(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def openai(step: Step) -> Any:
    calls = [("demo_echo", "{")] if step == "invalid arguments" else [(name, json.dumps(args)) for name, args in step]
    functions = [{"type": "function", "function": {"name": name, "arguments": text}} for name, text in calls]
    return {"choices": [{"message": {"content": None, "tool_calls": functions or None}}]}


def anthropic(step: Step) -> Any:
    blocks = [{"type": "tool_use", "id": "1", "name": name, "input": arguments} for name, arguments in step]
    return {"content": [{"type": "text", "text": "I call a tool."}, *blocks]}
