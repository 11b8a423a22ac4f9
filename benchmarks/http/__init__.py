"""Measurements over HTTP: a client of a few raw sockets, and the scenarios `http-call`, `http-list`, `http-memory`."""
