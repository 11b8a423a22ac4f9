"""`pegboard completion`: a script that completes commands, options and tools in a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from typing_extensions import TypedDict

from pegboard.plugin import CommandContext, CommandDescription
from pegboard.terminal import print_json, print_text


class ScriptOutput(TypedDict):
    """The output of `pegboard completion`."""

    shell: str
    script: str


def run_completion(command: CommandContext) -> int:
    """Print the script for a shell."""
    script = SCRIPTS[command.options.chosen](completed_words(command.command_line(of_plugins=True)))
    output = ScriptOutput(shell=command.options.chosen, script=script)
    print_json(output) if command.options.json else print_text(script.rstrip("\n"))
    return 0


# --- The scripts for bash, zsh and fish. Each follows the words before the cursor to a place, and offers its words.

_FOLLOW = """\
        case "$place/$word" in
            @PLACES@) place="$place/$word" ;;
            */-*) ;;
            *) case "$last" in
                --file) files+=(--file "$word") ;;
                @VALUED@) ;;
                *) named=$word ;;
            esac ;;
        esac
        last=$word
    done"""
"""The body of the loop over the words, for bash and zsh."""
_BASH = """\
# bash completion of pegboard: eval "$(pegboard completion bash)"
_pegboard() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} place= word last= named= candidates=
    local -a files=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
@FOLLOW@
    COMPREPLY=()
    case "$previous" in
@VALUES@
        @VALUED@) return ;;
    esac
    case "$place" in
@WORDS@
    esac
    case "$current:$place:$named" in
        -*) ;;
@NAMES@
    esac
    COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _pegboard pegboard
"""
_ZSH = """\
#compdef pegboard
# zsh completion of pegboard: eval "$(pegboard completion zsh)", after compinit
_pegboard() {
    local previous=${words[CURRENT-1]} place= word last= named=
    local -a candidates files
    for word in "${(@)words[2,CURRENT-1]}"; do
@FOLLOW@
    case "$previous" in
@VALUES@
        @VALUED@) _files; return ;;
    esac
    case "$place" in
@WORDS@
    esac
    case "${words[CURRENT]}:$place:$named" in
        -*) ;;
@NAMES@
    esac
    _describe 'argument' candidates || _files
}
compdef _pegboard pegboard
"""
_FISH = """\
# fish completion of pegboard: pegboard completion fish | source
function __pegboard_at --argument-names wanted
    set --local place ""
    for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
        switch "$place/$word"
            case @PLACES@
                set place "$place/$word"
        end
    end
    test "$place" = "$wanted"
end
function __pegboard_files
    set --local last ""
    for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
        test "$last" = --file; and printf '%s\\n' --file "$word"
        set last "$word"
    end
end
"""


def bash_script(words: CompletedWords) -> str:
    """Return the script for bash."""
    shown = {place: " ".join(word.text for word in choices) for place, choices in words.places.items()}
    lines = [f'        "{place}") candidates="{texts}" ;;' for place, texts in shown.items()]
    value, names = 'COMPREPLY=($(compgen -W "{}" -- "$current")); return', "candidates=$({})"
    return _filled(_BASH, words, lines, value, names)


def zsh_script(words: CompletedWords) -> str:
    """Return the script for zsh."""
    shown = {
        place: " ".join(_quoted(f"{word.text}:{word.meaning}", "'\\''") for word in choices)
        for place, choices in words.places.items()
    }
    lines = [f'        "{place}") candidates=({texts}) ;;' for place, texts in shown.items()]
    value, names = "candidates=({}); _describe 'value' candidates; return", 'candidates=(${{(f)"$({})"}})'
    return _filled(_ZSH, words, lines, value, names)


def fish_script(words: CompletedWords) -> str:
    """Return the script for fish."""
    return _FISH.replace("@PLACES@", " ".join(filter(None, words.places))) + "\n".join(_fish_lines(words)) + "\n"


def _filled(script: str, words: CompletedWords, lines: list[str], value: str, names: str) -> str:
    """Return a script with its words. `value` and `names` are the code for values of options and for names."""
    valued = sorted({word.text for choices in words.places.values() for word in choices if word.takes_value})
    parts = {
        "@FOLLOW@": _FOLLOW,
        "@PLACES@": "|".join(filter(None, words.places)),
        "@VALUED@": "|".join(valued),
        "@VALUES@": "\n".join(f"        {name}) {value.format(' '.join(of))} ;;" for name, of in words.values.items()),
        "@WORDS@": "\n".join(lines),
        "@NAMES@": "\n".join(f"        *:{at}:) {names.format(command)} ;;" for at, command in words.names.items()),
        "@FILES@": '"${files[@]}"',
    }
    for mark, text in parts.items():
        script = script.replace(mark, text)
    return script


def _fish_lines(words: CompletedWords) -> Iterator[str]:
    for place, choices in words.places.items():
        at = f"complete --command pegboard --condition '__pegboard_at \"{place}\"'"
        if place in words.names:
            command = words.names[place].replace("@FILES@", "(__pegboard_files)")
            yield f"{at} --no-files --arguments '({command})'"
        for word in choices:
            name = word.text.lstrip("-")
            kinds = {0: "--no-files --arguments", 1: "--short-option", 2: "--long-option"}
            kind = kinds[len(word.text) - len(name)]
            if word.takes_value:
                values = " ".join(words.values.get(word.text, ()))
                kind = f"--exclusive --arguments '{values}' {kind}" if values else f"--require-parameter {kind}"
            yield f"{at} {kind} {name} --description {_quoted(word.meaning, chr(92) + chr(39))}"


def _quoted(text: str, quote: str) -> str:
    """Return a string in single quotes, in which a quote is written in another form."""
    return "'" + text.replace("'", quote) + "'"


SCRIPTS: Mapping[str, Callable[[CompletedWords], str]] = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}


# --- The words that each command accepts: the commands below it, and its options.

_NAMES = {
    "tool": 'pegboard list @FILES@ 2>/dev/null | cut -d " " -f 1',
    "plugin": 'pegboard plugins 2>/dev/null | cut -d " " -f 1',
}
"""The shell command that prints the names for an argument of a type, one per line.

@FILES@ stands for the options `--file` before the cursor.
"""


class CompletedWord(NamedTuple):
    """A word of the command line.

    Attributes:
        text: the word.
        meaning: its meaning.
        takes_value: True for an option with a value.
    """

    text: str
    meaning: str
    takes_value: bool = False


class CompletedWords(NamedTuple):
    """All words of the command line.

    Attributes:
        places: the words of each place. The place of `pegboard config check` is "/config/check".
        names: the shell command that prints the names for the first argument of a command, by place.
        values: the values of options that accept few. Other options with a value accept files.
    """

    places: Mapping[str, list[CompletedWord]]
    names: Mapping[str, str]
    values: Mapping[str, Iterable[str]]


def completed_words(line: CommandDescription) -> CompletedWords:
    """Return the words of a command line."""
    places: dict[str, list[CompletedWord]] = {}
    names: dict[str, str] = {}
    values: dict[str, Iterable[str]] = {}
    for place, command in _places(line, ""):
        places[place] = [CompletedWord(name, below.summary) for name, below in command.commands.items()]
        for argument in command.arguments:
            places[place] += [CompletedWord(name, argument.help, argument.takes_value) for name in argument.names]
            if argument.type in _NAMES:
                names[place] = _NAMES[argument.type]
            if argument.completions:
                values |= dict.fromkeys(argument.names, argument.completions)
    return CompletedWords(places, names, values)


def _places(command: CommandDescription, place: str) -> Iterator[tuple[str, CommandDescription]]:
    yield place, command
    for name, below in command.commands.items():
        yield from _places(below, f"{place}/{name}")
