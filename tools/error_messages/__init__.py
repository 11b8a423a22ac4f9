"""Compares the answers to wrong calls of this and other frameworks, and writes them into docs/error-messages.md.

python -m tools.error_messages    # download the other frameworks, ask all servers, and write the page

`--overrides FILE` is described in tools/foreign_servers.
"""
