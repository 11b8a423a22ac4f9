"""The options of `list`, `show` and `call` that select another MCP server."""

from __future__ import annotations

import argparse


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("options for another MCP server, after the command")
    address = group.add_mutually_exclusive_group()
    address.add_argument(
        "--url", type=url_argument, metavar="URL", help="use the server at this URL instead of the toolkits"
    )
    address.add_argument(
        "--stdio", type=_words, metavar="COMMAND", help="use the server that this quoted command line starts"
    )
    group.add_argument(
        "--header",
        type=header_argument,
        action="append",
        metavar="'NAME: VALUE'",
        help="send this header with each request to the URL; it may be repeated",
    )
    group.add_argument(
        "--login", action="store_true", help="log in at the URL, in a browser, if the server requires it"
    )


def choose_server(parser: argparse.ArgumentParser, options: argparse.Namespace, elsewhere: str) -> None:
    """Run the function for another server if one is given. Refuse options that do not apply."""
    of_url = {"--header": options.header, "--login": options.login}
    unused = [] if options.url else [f"{name} has no effect without --url" for name, value in of_url.items() if value]
    if options.url or options.stdio:
        options.run = elsewhere
        of_host = {"--config": options.config, "--only": options.only, "--file": options.file}
        unused += [f"{name} has no effect with --url and --stdio" for name, value in of_host.items() if value]
    if unused:
        parser.error(unused[0])


def url_argument(text: str) -> str:
    """Return an HTTP URL of the command line."""
    scheme, _, rest = text.partition("://")
    if scheme not in ("http", "https") or not rest or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not an http or https URL")
    return text


def _words(text: str) -> list[str]:
    import shlex

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a command line: {error}") from None
    if not words:
        raise argparse.ArgumentTypeError("the command line is empty: write a command, such as 'python server.py'")
    return words


def header_argument(text: str) -> tuple[str, str]:
    """Return the name and the value of a header."""
    name, colon, value = text.partition(":")
    if not colon or not name.isascii() or not name.replace("-", "").isalnum() or not value.isprintable():
        raise argparse.ArgumentTypeError("a header has the form 'NAME: VALUE'")  # the value may be a secret
    return name, value.strip()
