"""Serves toolkits with the worker of their own framework: `python serve_original.py PORT SECRET DISTRIBUTION ...`."""

from __future__ import annotations

import sys

import uvicorn  # type: ignore[import-not-found]  # of another environment
from arcade_core.toolkit import Toolkit  # type: ignore[import-not-found]  # of another environment
from arcade_serve.fastapi import FastAPIWorker  # type: ignore[import-not-found]  # of another environment
from fastapi import FastAPI  # type: ignore[import-not-found]  # of another environment

port, secret, *distributions = sys.argv[1:]
app = FastAPI()
worker = FastAPIWorker(app, secret=secret)
for name in distributions:
    worker.register_toolkit(Toolkit.from_package(name))
uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
