"""Serves toolkits with the worker of their own framework: `python serve_original.py PORT SECRET DISTRIBUTION ...`."""

from __future__ import annotations

import sys

import uvicorn
from arcade_core.toolkit import Toolkit
from arcade_serve.fastapi import FastAPIWorker
from fastapi import FastAPI

port, secret, *distributions = sys.argv[1:]
app = FastAPI()
worker = FastAPIWorker(app, secret=secret)
for name in distributions:
    worker.register_toolkit(Toolkit.from_package(name))
uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
