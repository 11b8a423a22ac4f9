"""`pegboard secret list`, `secret set` and `secret unset`. Values are never printed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from getpass import getpass
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard import Host, MCPError
from pegboard.plugin import CommandContext, SecretStore, WritableSecretStore
from pegboard.terminal import UsageError, diverted, print_json, print_lines, print_table, say
from pegboard_plugins.support.secret_files import is_readable_by_others

MAX_SECRET_CHARACTERS = 64 * 1024


class SecretError(MCPError):
    """A secret cannot be set or removed."""


class ListedSecret(TypedDict):
    """A secret of `pegboard secret list`."""

    name: str
    set: bool
    used_by: list[str]
    store: str | None


class StoredSecret(TypedDict):
    """The output of `pegboard secret set`."""

    name: str
    store: str
    place: str


class RemovedSecret(TypedDict):
    """The output of `pegboard secret unset`."""

    name: str
    removed_from: list[str]
    left_in: list[str]


ListedSecrets = list[ListedSecret]
"""The output of `pegboard secret list`."""


def run_secret_list(command: CommandContext) -> int:
    """List the secrets that plugins and toolkits use, and the store of each."""
    host = _loaded(command)
    stores = _stores(host)
    rows: dict[str, dict[str, Any]] = {}
    for secret in command.requested_secrets(host):
        row = rows.setdefault(secret.name, {"name": secret.name, "set": secret.is_set, "used_by": []})
        row["set"] = row["set"] or secret.is_set
        row["used_by"].append(f"{secret.user} {secret.reason}".rstrip())
    for row in rows.values():
        row["store"] = next(_having(stores, row["name"]), None)
    entries = [rows[name] for name in sorted(rows)]
    if command.options.json:
        print_json(entries)
    elif entries:
        lines = [
            (row["name"], "set" if row["set"] else "missing", row["store"] or "", ", ".join(row["used_by"]))
            for row in entries
        ]
        print_table([("SECRET", "STATE", "STORE", "USED BY"), *lines])
        missing = [row["name"] for row in entries if not row["set"]]
        if missing and any(_all_writable(stores)):
            missing = []
            say("set a secret with `pegboard secret set NAME`")
        for name in missing:
            say(host.assembly.secrets.missing(name))
    else:
        say("no plugin and no toolkit uses a secret")
    return 0


def run_secret_set(command: CommandContext) -> int:
    """Store a secret that is typed at the terminal, or read from standard input."""
    name = command.options.secret
    if "=" in name:
        raise UsageError("leave out the value: the command asks for it, so that it is not in the history of your shell")
    host = _loaded(command)
    if host.assembly.secrets.is_reserved(name):
        message = "is reserved for the host, and not a secret of tools: set it as a variable of the environment"
        raise UsageError(f"{name} {message}")
    stores = _stores(host)
    store = _writable(stores, command.options.store)
    try:
        place = store.set(name, _typed(name))
    except (ValueError, OSError) as error:
        raise SecretError(f"{name} cannot be set in {store.name}: {_reason(error)}") from None
    if command.options.json:
        print_json(StoredSecret(name=name, store=store.name, place=place))
    else:
        print_lines([f"{name} is set in {place}"])
    file = Path(place)  # or the description of another place
    if file.is_absolute() and file.is_file() and is_readable_by_others(file):
        say(f"other users can read {file}: run chmod 600 {file}")
    for earlier in _having(stores[: stores.index(store)], name):
        say(f"{earlier} also has {name} and takes precedence: remove it there")
    return 0


def run_secret_unset(command: CommandContext) -> int:
    """Remove a secret from a store."""
    name = command.options.secret
    stores = _stores(_loaded(command))
    places = [_writable(stores, command.options.store)] if command.options.store else [*_all_writable(stores)]
    removed = []
    for store in places:
        try:
            removed += [store.name] if store.unset(name) else []
        except (ValueError, OSError) as error:
            raise SecretError(f"{name} cannot be removed from {store.name}: {_reason(error)}") from None
    left = [*_having(stores, name)]
    still = f"{', '.join(left)} still has {name}"
    if not removed:
        raise SecretError(f"{name} is not in a store that can be changed" + (f"; {still}" if left else ""))
    if command.options.json:
        print_json(RemovedSecret(name=name, removed_from=removed, left_in=left))
    else:
        print_lines([f"{name} is removed from {', '.join(removed)}"])
    if left:
        say(still)
    return 0


def _loaded(command: CommandContext) -> Host:
    """Return a loaded host. Its problems, such as missing secrets, are not printed."""
    host = command.new_host(transports=None)
    with diverted():
        host.load()
    return host


def _stores(host: Host) -> list[SecretStore]:
    return [store for _, store in host.assembly.secrets.stores]


def _all_writable(stores: list[SecretStore]) -> Iterator[WritableSecretStore]:
    for store in stores:
        if isinstance(store, WritableSecretStore):
            yield store


def _writable(stores: list[SecretStore], name: str | None) -> WritableSecretStore:
    """Return the store with `name`, or the first store that can be changed.

    Raises:
        SecretError: no enabled store with this name can be changed.
    """
    writable = [*_all_writable(stores)]
    chosen = [store for store in writable if name in (None, store.name)]
    if not chosen:
        names = ", ".join(store.name for store in writable) or "none"
        problem = f"the store {name} cannot be changed, or is not enabled" if name else "no store can be changed"
        raise SecretError(f"{problem}; stores that can be changed: {names}; [host] secret_stores enables stores")
    return chosen[0]


def _having(stores: list[SecretStore], name: str) -> Iterator[str]:
    """Yield the names of the stores that have a secret. A store that fails counts as a store without the secret."""
    for store in stores:
        value = _value(store, name)
        if value and not value.isspace():
            yield store.name


def _value(store: SecretStore, name: str) -> str | None:
    try:
        return store.get(name)
    except (Exception, SystemExit):  # noqa: BLE001 - the store may be that of a plugin
        return None


def _typed(name: str) -> str:
    """Return the value from a terminal, without showing it, or from standard input without its last line break.

    Raises:
        SecretError: the value is empty, too long or not UTF-8.
    """
    if sys.stdin is None:
        raise SecretError("standard input is closed: type the value at a terminal, or send it to standard input")
    if sys.stdin.isatty():
        value = getpass(f"pegboard: value of {name} (it is not shown): ", stream=sys.stderr)
    else:
        try:
            value = sys.stdin.buffer.read(4 * MAX_SECRET_CHARACTERS + 1).decode("utf-8")
        except UnicodeDecodeError:
            raise SecretError("the value is not UTF-8") from None
        value = value.removesuffix("\n").removesuffix("\r")
    if not value or value.isspace():
        raise SecretError("the value is empty: nothing was changed")
    if len(value) > MAX_SECRET_CHARACTERS:
        raise SecretError(f"the value has more than {MAX_SECRET_CHARACTERS} characters: nothing was changed")
    return value


def _reason(error: ValueError | OSError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
