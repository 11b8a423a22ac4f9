"""A server with a tool, a resource and a prompt. Its command serves over stdio, and `http` as argument over HTTP.

$ pegboard call --file server.py add text="Buy milk."
1
"""

import sys

from pegboard import Toolkit

kit = Toolkit("notes", title="Notes", description="Keeps notes while it runs.", prefix=False)

NOTES: list[str] = []


@kit.tool
def add(text: str) -> int:
    """Keep a note. The result is the number of notes."""
    NOTES.append(text)
    return len(NOTES)


@kit.resource("note://all")
def everything() -> list[str]:
    """All notes."""
    return NOTES


@kit.prompt
def tidy() -> str:
    """Sort the notes."""
    return "\n".join(["Sort these notes by topic:", *NOTES])


def main() -> None:
    """Serve over the transport that the command line names."""
    kit.run(*sys.argv[1:2])


if __name__ == "__main__":
    main()
