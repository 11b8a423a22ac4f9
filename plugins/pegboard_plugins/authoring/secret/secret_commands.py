"""`pegboard secret list`, `secret set` and `secret unset`. Values are never printed."""

from __future__ import annotations

import sys
from getpass import getpass
from pathlib import Path

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard import Host, MCPError
from pegboard.plugin import CommandContext, RequestedSecret, SecretStore, WritableSecretStore
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
    uses: dict[str, list[RequestedSecret]] = {}
    for secret in command.requested_secrets(host):
        uses.setdefault(secret.name, []).append(secret)
    entries = [
        ListedSecret(
            name=name,
            set=any(secret.is_set for secret in secrets),
            used_by=[f"{secret.user} {secret.reason}".rstrip() for secret in secrets],
            store=next((store.name for store in stores if _value(store, name)), None),
        )
        for name, secrets in sorted(uses.items())
    ]
    if command.options.json:
        print_json(entries)
    elif entries:
        lines = [
            (row["name"], "set" if row["set"] else "missing", row["store"] or "", ", ".join(row["used_by"]))
            for row in entries
        ]
        print_table([("SECRET", "STATE", "STORE", "USED BY"), *lines])
        advice = "set a secret with `pegboard secret set NAME`" if _all_writable(stores) else ""
        missing = [advice or host.assembly.secrets.missing(row["name"]) for row in entries if not row["set"]]
        for line in dict.fromkeys(missing):
            say(line)
    else:
        say("no plugin and no toolkit uses a secret")
    return 0


def run_secret_set(command: CommandContext) -> int:
    """Store a secret that is typed at the terminal, or read from standard input, in the spelling of its tool."""
    name = command.options.secret
    if "=" in name:
        raise UsageError("leave out the value: the command asks for it, so that it is not in the history of your shell")
    host = _loaded(command)
    if host.assembly.secrets.is_reserved(name):
        message = "is reserved for the host, and not a secret of tools: set it as a variable of the environment"
        raise UsageError(f"{name} {message}")
    known = [secret.name for secret in command.requested_secrets(host)]
    if name not in known:  # stores distinguish upper and lower case
        name = next((each for each in known if each.casefold() == name.casefold()), name)
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
    places = [_writable(stores, command.options.store)] if command.options.store else _all_writable(stores)
    removed = []
    for store in places:
        try:
            removed += [store.name] if store.unset(name) else []
        except (ValueError, OSError) as error:
            raise SecretError(f"{name} cannot be removed from {store.name}: {_reason(error)}") from None
    left = _having(stores, name)
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
    """Return a loaded host. Print the problems of its stores, and not those that change nothing here."""
    host = command.new_host(transports=None)
    with diverted():
        host.load()
    for problem in host.problems:
        if problem.origin in dict(host.assembly.secrets.stores):
            say(str(problem))
    return host


def _stores(host: Host) -> list[SecretStore]:
    return [store for _, store in host.assembly.secrets.stores]


def _all_writable(stores: list[SecretStore]) -> list[WritableSecretStore]:
    return [store for store in stores if isinstance(store, WritableSecretStore)]


def _writable(stores: list[SecretStore], name: str | None) -> WritableSecretStore:
    """Return the store with `name`, or the first store that can be changed.

    Raises:
        SecretError: no enabled store with this name can be changed.
    """
    writable = _all_writable(stores)
    chosen = [store for store in writable if name in (None, store.name)]
    if not chosen:
        names = ", ".join(store.name for store in writable) or "none"
        problem = f"the store {name} cannot be changed, or is not enabled" if name else "no store can be changed"
        raise SecretError(f"{problem}; stores that can be changed: {names}; [host] secret_stores enables stores")
    return chosen[0]


def _having(stores: list[SecretStore], name: str) -> list[str]:
    """Return the names of the stores that have a secret. A store that fails counts as a store without the secret."""
    return [store.name for store in stores if _value(store, name)]


def _value(store: SecretStore, name: str) -> str:
    """Return a secret without blanks at its ends, or "" if the store does not have it."""
    try:
        return (store.get(name) or "").strip()
    except (Exception, SystemExit):  # noqa: BLE001 - the store may be that of a plugin
        return ""


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
