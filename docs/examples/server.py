"""A server with a tool, a resource and a prompt. `server.py` serves over stdio, `server.py http` over HTTP.

$ pegboard call --file server.py add text="Buy milk."
1
"""

from argparse import ArgumentParser

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
    """Serve over stdio, or over HTTP if the command line says so."""
    parser = ArgumentParser(description=kit.description)
    parser.add_argument("transport", nargs="?", choices=["stdio", "http"], default="stdio")
    kit.run(parser.parse_args().transport)


if __name__ == "__main__":
    main()
