"""The commands of groups such as `pegboard config`. They are imported when a group is used."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pegboard.cli.configure.clients import CLIENTS, PRINTED
from pegboard.cli.parser import FILES, CliCommand
from pegboard.cli.server_options import header_argument, url_argument

_TRUSTED = ("path", {"nargs": "?", "type": Path, "metavar": "FILE", "help": "the file; ./hostconfig.toml by default"})

NEW = (
    (
        "sort",
        {
            "nargs": "?",
            "metavar": "toolkit|plugin|server",
            "help": "the kind of project; the command asks for a missing one at a terminal",
        },
    ),
    ("name", {"nargs": "?", "help": "the name, such as weather; the folder is toolkit-weather"}),
    (
        "--kind",
        {
            "help": "the kind of plugin: transport, middleware, authenticator, error-adapter, auth-provider, "
            "token-source, secret-store, store, method, route or command"
        },
    ),
    ("--owner", {"help": "the GitHub account or organization, for server.json"}),
)

SWITCH = (("name", {"help": "an installed plugin or toolkit: its name, or distribution:name"}),)

CONFIG = (
    CliCommand(
        "check",
        "config_commands:run_config_check",
        "print all problems that would prevent the start of `pegboard serve`",
        ("pegboard config check", "pegboard config check --config prod.toml"),
    ),
    CliCommand(
        "show",
        "config_commands:run_config_show",
        "show the settings in effect and their sources",
        ("pegboard config show", "pegboard config show --json"),
    ),
    CliCommand(
        "set",
        "edit_commands:run_config_set",
        "set a key in the configuration file, and keep its comments",
        ("pegboard config set host.name shed", "pegboard config set plugins.http.port 9000"),
        (("key", {"help": "the key, such as plugins.http.port"}), ("value", {"help": "TOML, or else a string"})),
    ),
    CliCommand(
        "schema",
        "config_commands:run_config_schema",
        "print the JSON Schema of hostconfig.toml, for editors",
        ("pegboard config schema", "pegboard config schema > hostconfig.schema.json"),
    ),
    CliCommand(
        "trust",
        "trust_commands:run_trust",
        "trust a hostconfig.toml of the working directory with its present content",
        ("pegboard config trust", "pegboard config trust path/to/hostconfig.toml"),
        (_TRUSTED,),
    ),
    CliCommand(
        "untrust",
        "trust_commands:run_untrust",
        "withdraw the trust in a hostconfig.toml",
        ("pegboard config untrust", "pegboard config untrust path/to/hostconfig.toml"),
        (_TRUSTED,),
    ),
)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.isidentifier():
        raise argparse.ArgumentTypeError("a variable has the form NAME=VALUE, or NAME")  # the value may be a secret
    if not equals and name not in os.environ:
        raise argparse.ArgumentTypeError(f"the variable {name} is not set: write {name}=VALUE")
    return name, value if equals else os.environ[name]


_MODULE = "configure.configure_commands"
_ENTRY_NAME = (
    "--name",
    {"metavar": "NAME", "help": 'the name of the entry; by default the name of the file, or "pegboard"'},
)
_SERVER = (
    FILES,
    _ENTRY_NAME,
    (
        "--env",
        {
            "type": _variable,
            "action": "append",
            "metavar": "NAME[=VALUE]",
            "help": "a variable that the client sets for the server; without a value, the value in this shell",
        },
    ),
    ("--url", {"type": url_argument, "metavar": "URL", "help": "connect to a server at this URL instead of a command"}),
    (
        "--header",
        {
            "type": header_argument,
            "action": "append",
            "metavar": "'NAME: VALUE'",
            "help": "a header that the client sends to the URL; it may be repeated",
        },
    ),
)
_PLACE = (
    ("--path", {"type": Path, "metavar": "FILE", "help": "change this file of the client"}),
    (
        "--project",
        {"action": "store_true", "help": "change the client's file for the project in the working directory"},
    ),
    ("--dry-run", {"action": "store_true", "help": "only show the difference"}),
)
_NO_CHECK = ("--no-check", {"action": "store_true", "help": "do not start the server afterwards"})

CONFIGURE = (
    *(
        CliCommand(
            client.name,
            f"{_MODULE}:run_configure",
            f"add the server to {client.title}",
            (
                f"pegboard configure {client.name}",
                f"pegboard configure {client.name} server.py --env API_KEY",
                *([f"pegboard configure {client.name} --url http://127.0.0.1:8000/mcp"] if client.url else []),
            ),
            (*_SERVER, *_PLACE, _NO_CHECK),
        )
        for client in CLIENTS.values()
    ),
    CliCommand(
        PRINTED.name,
        f"{_MODULE}:run_print",
        f"print the entry for {PRINTED.title}",
        ("pegboard configure json", "pegboard configure json server.py --name demo"),
        _SERVER,
    ),
    CliCommand(
        "list",
        f"{_MODULE}:run_entries",
        "list the servers in the files of all clients",
        ("pegboard configure list", "pegboard configure list --json"),
    ),
    CliCommand(
        "remove",
        f"{_MODULE}:run_remove",
        "remove the server from a client",
        ("pegboard configure remove cursor", "pegboard configure remove cursor --name server --dry-run"),
        (("client", {"metavar": "CLIENT", "help": "a client, such as cursor"}), _ENTRY_NAME, *_PLACE),
    ),
)

_SECRET = ("secret", {"metavar": "NAME", "help": "the name of the secret"})
_STORE = ("--store", {"metavar": "STORE", "help": "change this store; by default the first one that can be changed"})

SECRET = (
    CliCommand(
        "list",
        "secret_commands:run_secret_list",
        "list the secrets that toolkits and plugins use, and those that are missing",
        ("pegboard secret list", "pegboard secret list --json"),
    ),
    CliCommand(
        "set",
        "secret_commands:run_secret_set",
        "ask for the value of a secret without showing it, and store it",
        ("pegboard secret set API_KEY", "pegboard secret set API_KEY --store secrets_keyring < key.txt"),
        (_SECRET, _STORE),
    ),
    CliCommand(
        "unset",
        "secret_commands:run_secret_unset",
        "remove a secret from the stores",
        ("pegboard secret unset API_KEY", "pegboard secret unset API_KEY --store secrets_keyring"),
        (_SECRET, _STORE),
    ),
)
