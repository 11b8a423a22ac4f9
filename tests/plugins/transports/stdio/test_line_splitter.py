"""Input cut into lines: the same messages however it is cut, and printed output cut into lines of a log."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pegboard_plugins.transports.stdio.line_splitter import LineSplitter
from pegboard_plugins.transports.stdio.output_log import PrintedLines


def split(chunks: list[bytes]) -> tuple[list[bytes], int]:
    splitter = LineSplitter(10)
    all_lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.end()
    return all_lines, len(splitter.take_refused())


@given(st.lists(st.sampled_from([b"", b"a", b"\tbc", b"0123456789", b"0123456789+"])), st.data())
def test_lines_up_to_the_limit_are_found_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    raw = [line + data.draw(st.sampled_from([b"", b" ", b"\r"])) for line in lines]
    stream = b"\n".join(raw) + data.draw(st.sampled_from([b"", b"\n"]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    kept = [line.strip() for line in raw if len(line) <= 10 and line.strip()]
    assert split(chunks) == (kept, sum(len(line) > 10 for line in raw))


def test_printed_lines_are_fit_for_a_terminal_and_do_not_mix() -> None:
    lines = PrintedLines()
    printed = "tab\tstays\r\n\n\r\n10%\r20%\n\u202eright to left\n".encode() + b"\xff\x1b[31mred\n"
    records = lines.add("one", ("a",), printed + b"from ")
    shown = ["tab\tstays", "10%\\r20%", "\\u202eright to left", "\\xff\\x1b[31mred"]
    assert [str(line) for line in records] == shown
    lines.add("two", ("b",), b"of b")
    (line,) = lines.add("one", ("b",), b"a\n")
    assert (str(line), line.names) == ("from a", ("a",))
    lines.add("one", ("a",), b"of a")
    assert [str(line) for line in lines.finish(running=("a",))] == ["of b"]
    assert [str(line) for line in lines.finish()] == ["of a"]
