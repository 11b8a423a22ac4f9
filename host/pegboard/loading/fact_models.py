"""The tables of `pegboard_plugin.toml` as models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

_KEYS = {"value": "values", "literal": "literals", "secret": "secrets"}
"""The attributes of a variable that sets a key, each with its kind (`SETTING_KINDS`)."""

FunctionName = Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
"""A function as `module:function`."""
ValueType = Literal["text", "integer", "path", "names", "tool", "plugin"] | FunctionName


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Variable(_Model):
    """An environment variable of an existing system. Exactly one attribute is set, and perhaps `reserved`.

    Attributes:
        value: the key that the variable sets.
        literal: the key that the variable sets to a TOML value, such as `true`.
        secret: the key that refers to the variable. Its value is never shown, and tools cannot require it.
        renamed: the setting that takes the place of a variable without effect.
        unused: the reason why a variable has no effect.
        read: True if only the plugin reads the variable.
        reserved: True if tools cannot require the variable as a secret.
    """

    value: str | None = None
    literal: str | None = None
    secret: str | None = None
    renamed: str | None = None
    unused: str | None = None
    read: bool = False
    reserved: bool = False


class Argument(_Model):
    """An argument of a command: a positional argument, or an option.

    Attributes:
        name: the name of a positional argument, or an option such as `--port`.
        aliases: other names of an option, such as `-p`.
        help: its meaning. The help of an option with a `key` also names the key.
        metavar: the word for its value in the help.
        type: the form of its value. "names" are separated by commas. Shells complete a "path", "tool" and "plugin". A
            function `module:function` converts the text, and raises `argparse.ArgumentTypeError`.
        key: the key of the plugin's section that the option sets.
        value: the value of an option without an argument.
        default: the value without the option.
        nargs: the number of values: "?" for at most one, "*" for any number, "+" for at least one.
        repeated: True if the option may be repeated. Its value is a list.
        completions: the values that shells complete. The command checks its values itself.
        run: a function `module:function` that runs in place of the command if the option is given. If the option also
            has a key, the function runs if the key is set anywhere, gets the validated settings of the plugin, and may
            return None to let the command run.
        needs: what this function needs, as for a command.
        group: the heading of the option in the help.
        alone: True if installed toolkits are not served beside what the option names.
    """

    name: Annotated[str, Field(pattern=r"^(--)?[a-z][a-z0-9_-]*$")]
    aliases: tuple[Annotated[str, Field(pattern=r"^(-[a-zA-Z]|--[a-z][a-z0-9-]*)$")], ...] = ()
    help: str
    metavar: str | None = None
    type: ValueType = "text"
    key: str | None = None
    value: bool | str | None = None
    default: bool | int | str | tuple[str, ...] | None = None
    nargs: Literal["?", "*", "+"] | None = None
    repeated: bool = False
    completions: tuple[str, ...] = ()
    run: FunctionName | None = None
    needs: Literal["nothing", "host"] = "nothing"
    group: str = ""
    alone: bool = False

    @property
    def is_alternative(self) -> bool:
        """True if the option itself takes the place of the command."""
        return self.run is not None and self.key is None

    @model_validator(mode="after")
    def _check_form(self) -> Argument:
        of_option = self.aliases or self.repeated or self.value is not None or self.key or self.run
        if of_option and not self.name.startswith("--"):
            raise ValueError(
                f"the argument {self.name} has `aliases`, `value`, `repeated`, `key` or `run`, which only an option "
                "may have; remove them"
            )
        return self


class CheckFacts(_Model):
    """A check that a feature adds to `doctor`, `config check`, `why` or `list`.

    Attributes:
        name: its name in the report of `doctor`.
        run: a function `module:function` that gets a `CommandContext` and yields each `Finding`.
    """

    name: str
    run: FunctionName


class CommandFacts(_Model):
    """A command, a group of commands, or the additions to a command of pegboard.

    Attributes:
        summary: the effect of the command, in one line.
        place: the place in the general help. Commands with lower numbers come first. Only for distributions of
            pegboard.
        run: a function `module:function` that gets a `CommandContext` and returns the exit code.
        needs: "configuration" for the plugin's validated settings, "host" for a loaded host.
        output: the type of its output with `--json`, as `module:type`. The key is `json`.
        examples: valid command lines.
        arguments: the arguments of the command.
        commands: the commands of a group, by name. A feature with only commands may add some to a group of the host.
        like: the command of the same group whose function and arguments this command has, too.
        options: the options that the plugin adds to the command.
        checks: the checks that the plugin adds to the command: `doctor`, `config check`, `why` or `list`.
    """

    summary: str = ""
    place: int = 50
    run: FunctionName | None = None
    needs: Literal["nothing", "configuration", "host"] = "nothing"
    output: FunctionName | None = Field(None, alias="json")
    examples: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    commands: Mapping[str, CommandFacts] = {}
    like: str | None = None
    options: tuple[Argument, ...] = ()
    checks: tuple[CheckFacts, ...] = ()

    @property
    def is_own(self) -> bool:
        """True if the plugin provides the command. Otherwise it adds to a command of pegboard."""
        return bool(self.summary)

    def command(self, name: str) -> CommandFacts:
        """Return a command of the group, with what it takes from the command that it is like."""
        command = self.commands[name]
        if command.like is None:
            return command
        stated = {key: getattr(command, key) for key in command.model_fields_set}
        return self.commands[command.like].model_copy(update=stated)

    @model_validator(mode="after")
    def _check_commands(self) -> CommandFacts:
        for name, command in self.commands.items():
            if command.like is not None and command.like not in self.commands:
                raise ValueError(f"the command {name} is like {command.like!r}, which is no command of its group")
        for option in self.options:
            if not option.name.startswith("--") or not (option.key or option.run):
                raise ValueError(f"the added option {option.name} must begin with --, and have a `key` or `run`")
        if self.is_own and not (self.run or self.commands or self.like):
            raise ValueError("name the function of the command with `run`")
        if self.run and self.commands:
            raise ValueError("a group of commands has `run`, which only its commands may have; remove it")
        if self.run and not (self.summary or self.like):
            raise ValueError("state the effect of the command with `summary`")
        return self


class PluginFacts(_Model):
    """The facts of one plugin.

    Attributes:
        default: True if the plugin runs by default, or the list of `[host]` that contains it by default. Only for
            distributions of pegboard.
        place: the place in this list. Plugins with lower numbers come first.
        mounts: True for the plugin that serves `Host(mount=...)`. Only for distributions of pegboard.
        log: True for the plugin whose settings `format`, `file` and `access` are those of a server's log. Only for
            distributions of pegboard.
        folders: the key of the plugin's section that takes the folders of toolkits on the command line.
        environment: environment variables, each with the key of the plugin's section that it sets, or a `Variable`.
        policies: the route policies of the plugin's authenticators. They stay closed if the plugin is configured but
            disabled by accident.
        commands: the commands of the plugin, and commands of pegboard to which it adds options or checks, by name.
        transports: the names of the plugin's transports.
    """

    default: bool | Literal["transports", "secret_stores"] = False
    place: int = 50
    mounts: bool = False
    log: bool = False
    folders: str | None = None
    environment: Mapping[str, str | Variable] = {}
    policies: tuple[str, ...] = ()
    commands: Mapping[str, CommandFacts] = {}
    transports: tuple[str, ...] = ()

    def variables(self, name: str) -> Iterator[tuple[str, str, str]]:
        """Yield each variable with its kind and its text, in the form of the table `environment` of the defaults.

        Args:
            name: the plugin.
        """
        for variable, stated in self.environment.items():
            facts: Any = Variable(value=stated) if isinstance(stated, str) else stated
            for attribute, kind in _KEYS.items():
                if key := getattr(facts, attribute):
                    yield variable, kind, f"plugins.{name}.{key}"
            for kind in ("renamed", "unused"):
                if text := getattr(facts, kind):
                    yield variable, kind, text
            if facts.read:
                yield variable, "of_plugins", name
            if facts.reserved:
                yield variable, "reserved", name
