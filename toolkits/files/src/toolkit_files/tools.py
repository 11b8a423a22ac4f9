"""The tools: their parameters and descriptions for models.

The code of each tool is imported at its first call, because the start of a host needs only the descriptions.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le

from pegboard import Context
from toolkit_files.answers import (
    Bytes,
    Deleted,
    Details,
    Edited,
    Found,
    Listed,
    MadeDirectory,
    Matches,
    Mode,
    Moved,
    RootsAnswer,
    Written,
)
from toolkit_files.config import FilesConfig
from toolkit_files.kit import Files, adds, changes, reads
from toolkit_files.problems import printable
from toolkit_files.roots import Place, kind_of, look, parent

if TYPE_CHECKING:
    from toolkit_files.walking import Walk
    from toolkit_files.watch import Watch

FilePath = Annotated[str, "path of the file, relative to the root"]
DirectoryPath = Annotated[str, "directory, relative to the root"]
Hidden = Annotated[bool, "include names that begin with a dot"]
Resume = Annotated[str, "the value of resume in the last answer, to continue from there"]
EncodingName = Annotated[str, "such as latin-1 or utf-16; found by the file's mark, else utf-8, when left out"]


def _files(context: Context) -> Files:
    files: Files = context.state
    return files


def _config(context: Context) -> FilesConfig:
    config: FilesConfig = context.config
    return config


def _watch(context: Context) -> "Watch":
    from toolkit_files.watch import Watch

    def report(steps: int, files: int) -> None:
        message = f"{files} files searched" if files else f"{steps} entries looked at"
        context.progress.report(steps, message=message)

    seconds = _config(context).max_search_seconds
    return Watch(seconds=seconds, cancelled=lambda: context.cancelled, report=report)


def _walk(context: Context, start: Place, **options: Any) -> "Walk":
    from toolkit_files.walking import Walk

    files = _files(context)
    return Walk(files.roots, start, _watch(context), ignore=files.ignore, **options)


@reads("Show the roots", "roots")
def show_roots(context: Context) -> RootsAnswer:
    """Show which directories the file tools may use and whether they may write. Relative paths begin at the first."""
    roots = [printable(root.path) for root in _files(context).roots.all]
    return RootsAnswer(roots=roots, writable=_config(context).write)


@reads("List a directory", "list")
def list_directory(
    context: Context,
    path: DirectoryPath = ".",
    depth: Annotated[int, "1 for the directory's entries, 2 to include their entries, and so on", Ge(1), Le(100)] = 1,
    pattern: Annotated[str, "glob for names, such as *.py; one with a / is for paths below the directory"] = "",
    hidden: Hidden = False,
    resume: Resume = "",
) -> Listed:
    """List a directory by name, with type, size in bytes and modification time (UTC). Links are not followed."""
    from toolkit_files import listing

    start = _files(context).roots.locate(path)
    walk = _walk(context, start, depth=depth, hidden=hidden, show_ignored=True, after=_names(resume))
    return listing.list_directory(walk, pattern, _config(context).max_entries)


def _names(resume: str) -> tuple[str, ...]:
    return tuple(resume.split("/")) if resume else ()


@reads("Describe a file")
def info(context: Context, path: Annotated[str, "file or directory, relative to the root"]) -> Details:
    """Describe a file or directory: type, size, modification time (UTC), permissions; for text also its encoding."""
    from toolkit_files import listing

    return listing.details(_files(context).roots.locate(path))


@reads("Find files by name")
def find(
    context: Context,
    pattern: Annotated[str, "glob for names, such as *.{ts,tsx}; one with a / is for paths, such as src/**/test_*.py"],
    path: DirectoryPath = ".",
    type: Annotated[Literal["any", "file", "directory"], "what to find"] = "any",
    ignore_case: bool = False,
    hidden: Hidden = False,
    resume: Resume = "",
) -> Found:
    """Find files and directories by name, at any depth. Directories such as node_modules are skipped."""
    from toolkit_files import listing

    walk = _walk(context, _files(context).roots.locate(path), hidden=hidden, after=_names(resume))
    kind = None if type == "any" else type
    fits = listing.fitting(walk, pattern, ignore_case=ignore_case, kind=kind)
    return listing.find(walk, fits, _config(context).max_entries)


@reads("Search in files")
def search(
    context: Context,
    text: Annotated[str, "the text that a line must contain, or with regex a regular expression without look-around"],
    path: Annotated[str, "directory or single file, relative to the root"] = ".",
    regex: Annotated[bool, "text is a regular expression"] = False,
    files: Annotated[str, "glob for the files to search, such as *.py"] = "",
    ignore_case: bool = False,
    around: Annotated[int, "how many lines to show before and after each match", Ge(0), Le(10)] = 0,
    hidden: Hidden = False,
    resume: Resume = "",
) -> Matches:
    """Search file contents line by line. Binary files and directories such as node_modules are skipped."""
    from toolkit_files import listing, searching
    from toolkit_files.walking import Entry

    make = searching.Needle.regex if regex else searching.Needle.text
    needle = make(text, ignore_case=ignore_case)
    begin = searching.Position.parse(resume)
    place = _files(context).roots.locate(path)
    config = _config(context)
    walk = _walk(context, place, hidden=hidden, after=begin.names, again=begin.line >= 0)
    limits = {"around": around, "most": config.max_matches, "budget": config.max_read_bytes}
    job = searching.Search(needle, walk.watch, begin=begin, **limits)
    with parent(place) as above:
        kind = kind_of(look(above, place))
    if kind != "directory":
        return job.run([Entry(tuple(map(printable, place.parts)), place, "file")], lambda entry: True, strict=True)
    result = job.run(walk, listing.fitting(walk, files, kind="file"))
    if notes := listing.left_out(walk):
        result["note"] = " ".join([*([result["note"]] if "note" in result else []), *notes])
    return result


@reads("Read a text file")
def read(
    context: Context,
    path: FilePath,
    start_line: Annotated[
        int, "first line, from 1; a negative number counts from the end, -50 gives the last 50 lines"
    ] = 1,
    end_line: Annotated[int, "last line; 0 for as many as fit", Ge(0)] = 0,
    offset: Annotated[int | None, "begin at this byte instead of a line; for very long lines", Ge(0)] = None,
    encoding: EncodingName = "",
    line_numbers: Annotated[bool, "put its number before each line"] = False,
) -> str:
    """Read a text file or some of its lines. If more follows, a last line in brackets states how to read the rest."""
    from toolkit_files import reading

    place = _files(context).roots.locate(path)
    budget = _config(context).max_read_bytes
    if offset is not None:
        return reading.read_window(place, offset, encoding, budget)
    return reading.read_lines(
        place, (start_line, end_line or None), encoding, budget, _watch(context), numbers=line_numbers
    )


@reads("Read bytes")
def read_binary(
    context: Context,
    path: FilePath,
    offset: Annotated[int, "first byte, from 0", Ge(0)] = 0,
    length: Annotated[int, "how many bytes; 0 for as many as fit", Ge(0)] = 0,
) -> Bytes:
    """Read a file or a range of its bytes as base64. For text, use the tool that reads text."""
    from toolkit_files import reading

    budget = _config(context).max_read_bytes
    return reading.read_bytes(_files(context).roots.locate(path), offset, min(length or budget, budget))


@changes("Write a file")
def write(
    context: Context,
    path: FilePath,
    content: Annotated[str, "the text to write"],
    mode: Annotated[Mode, "create fails if the file exists; overwrite replaces it; append adds to its end"] = "create",
    parents: Annotated[bool, "make the directories above it"] = False,
    encoding: EncodingName = "",
) -> Written:
    """Write a whole text file, or append to it. To change a part of a file, edit it."""
    from toolkit_files import writing

    place = _files(context).roots.locate_for_change(path)
    return writing.write(place, content, mode, encoding, parents=parents)


@changes("Edit a file")
def edit(
    context: Context,
    path: FilePath,
    old_text: Annotated[str, "the text to replace, exactly as it stands in the file; it must occur once"],
    new_text: Annotated[str, "what to put there"],
    replace_all: Annotated[bool, "replace it wherever it occurs"] = False,
    encoding: EncodingName = "",
) -> Edited:
    """Replace a string in a file. It must occur exactly once: include enough surrounding text, or replace all."""
    from toolkit_files import writing

    place = _files(context).roots.locate_for_change(path)
    return writing.edit(place, old_text, new_text, encoding, everywhere=replace_all)


@adds("Make a directory")
def make_directory(context: Context, path: DirectoryPath) -> MadeDirectory:
    """Create a directory and its missing parents. An existing directory is not changed."""
    from toolkit_files import writing

    place = _files(context).roots.locate_for_change(path)
    return MadeDirectory(path=place.shown, created=writing.make_directories(place))


@changes("Move or rename")
def move(
    context: Context,
    source: Annotated[str, "file or directory, relative to the root"],
    destination: Annotated[str, "its whole new path, relative to the root"],
    overwrite: Annotated[bool, "let a file replace the file at its new path"] = False,
) -> Moved:
    """Move or rename a file or directory."""
    from toolkit_files import moving

    roots = _files(context).roots
    places = roots.locate_for_change(source), roots.locate_for_change(destination)
    return moving.move(roots, *places, _watch(context), overwrite=overwrite)


@changes("Delete")
def delete(
    context: Context,
    path: Annotated[str, "file or directory, relative to the root"],
    recursive: Annotated[bool, "delete a directory with everything in it"] = False,
) -> Deleted:
    """Delete a file, or with recursive a directory and its contents. This cannot be undone."""
    from toolkit_files import moving

    roots = _files(context).roots
    return moving.delete(roots, roots.locate_for_change(path), _watch(context), recursive=recursive)
