"""Fit tables to a screen: what all rows share is in a line above, and what was asked for stays at any width.

A column without room is left out and named; columns to `keep` (an estimate, its interval, its p), and the names before
them, which tell rows apart, are the last to go:
long names in them are folded between their parts first, then columns move closer, and only then do words break.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # turn the direction of the text around them
    r"\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"  # invisible, or a line end
)
_ENDS = {"low": "high", "high": "low"}
_COLUMN_GAP = 3  # characters that rich puts between two columns
_NARROW_GAP = 2  # the same if it collapses the padding
_NARROWEST = 8  # characters that a name has at least if it breaks within a word
# After a mark of punctuation, and between a factor and its level as R's terms join them ("conditionincompatible").
_JOINTS = re.compile(r"(?<=[_/:-])(?=.)|(?<=\.)(?=[^\W\d])|(?<=\bcondition)(?=[^\W_])")
_P_NAMES = re.compile(r"p|p_(?!positive\b)\w+")
_SMALLEST_P = 0.001
_ROWS_OF_REPR = 12
_PLAIN = {str, int, bool, type(None)}


def printable(text: object) -> str:
    """Return text that a terminal can show: characters (for example in a model's answer) that would command it, turn
    the direction of a line or hide in it become \ufffd. Those that scripts and emoji need to join letters stay.
    """
    return CONTROL.sub("\ufffd", str(text))


def in_one_line(text: object) -> str:
    """Return the same for a name within a sentence: further lines of it would pass for sentences of slant's."""
    return " ".join(printable(text).split())


def shown_cell(value: object) -> str:
    """Return a value as a table shows it: unknown is nothing, a number has six digits."""
    if value is None:
        return ""
    return f"{value:z.6g}" if isinstance(value, float) else printable(value)


def shown_p(value: object) -> str:
    """Return a p value as papers print it: "< .001", ".059"."""
    if not isinstance(value, float) or not 0 <= value <= 1:
        return shown_cell(value)
    return "< .001" if value < _SMALLEST_P else f"{value:.3f}".removeprefix("0")


def is_p_name(name: str) -> bool:
    """Return whether a column of this name holds p values (`p_positive` does not, but a share of draws)."""
    return _P_NAMES.fullmatch(name) is not None


def in_digits(frame: pl.DataFrame, digits: int) -> pl.DataFrame:
    """Return the frame with its numbers rounded to significant digits, except p values: a table rounds them to three
    decimals itself, and rounding twice would make .382 of .38146."""
    floats = [name for name, kind in frame.schema.items() if kind.is_float() and not is_p_name(name)]
    return frame.with_columns(frame[name].round_sig_figs(digits) for name in floats)


def shown_column(frame: Any, name: str) -> list[str]:
    """Return the cells of a column of a Polars frame, as a table shows them."""
    is_p = frame.schema[name].is_float() and is_p_name(name)
    return [(shown_p if is_p else shown_cell)(value) for value in frame[name]]


@dataclass(frozen=True, slots=True)
class _Kind:
    numeric: bool

    def is_numeric(self) -> bool:
        return self.numeric

    def is_float(self) -> bool:
        return False


class PlainTable:
    """Hold texts and whole numbers with all that a printer reads of a Polars frame: importing Polars takes .1 s."""

    def __init__(self, cells: Mapping[str, list[Any]]) -> None:
        self._cells, self.columns = cells, list(cells)
        self.height = len(next(iter(cells.values()), []))
        self.schema = {name: _Kind(any(type(value) is int for value in cells[name])) for name in cells}

    def __getitem__(self, name: str) -> list[Any]:
        return self._cells[name]

    def select(self, names: Iterable[str]) -> PlainTable:
        return PlainTable({name: self._cells[name] for name in names})

    def drop(self, names: Sequence[str]) -> PlainTable:
        return self.select(name for name in self.columns if name not in names)


def plain_table(rows: Any) -> PlainTable | None:
    """Return a list of dicts as a table; None for a Polars frame, and for rows that need one: measurements, lists."""
    if not isinstance(rows, list) or not {type(value) for row in rows for value in row.values()} <= _PLAIN:
        return None
    names = dict.fromkeys(name for row in rows for name in row)
    return PlainTable({name: [row.get(name) for row in rows] for name in names})


@dataclass(frozen=True)
class ScreenTable:
    """Hold a Polars frame in `width` characters. `above`: what all rows share, if the columns had no room otherwise;
    `left_out`: names of columns without room; `widths`: how wide each column is; `gap`: the characters between two of
    them."""

    frame: Any
    above: str
    left_out: list[str]
    widths: dict[str, int]
    gap: int


def screen_table(frame: Any, width: int, keep: Sequence[str] = ()) -> ScreenTable:
    """Fit a frame into `width` characters. `keep`: columns that are left out last."""
    needed = {name: _longest([name, *shown_column(frame, name)], str.split) for name in frame.columns}
    if _taken(needed) <= width:
        return replace(fitted(frame, width, keep), left_out=[])
    shared = _shared(frame, keep)
    empty = [name for name in frame.columns if frame.height and all(value is None for value in frame[name])]
    dropped = [*shared, *empty]
    rest = frame.drop(dropped) if len(dropped) < len(frame.columns) else frame
    return replace(fitted(rest, width, keep), above="; ".join(f"{name}: {value}" for name, value in shared.items()))


def _shared(frame: Any, keep: Sequence[str]) -> dict[str, str]:
    """Return names and flags that are the same in all rows; measurements stay in the table, and so do row names. Of a
    single row whose columns to keep are not said, counts of 0 alone are above: they make room for the others."""
    shared = {}
    for name, dtype in frame.schema.items():
        if dtype.is_float() or (frame.height < 2 and name in keep):
            continue
        values = set(shown_column(frame, name))
        if frame.height < 2 and not keep and values != {"0"}:
            continue
        if len(values) == 1 and (value := values.pop()) and len(value) < 100:
            shared[name] = value
    return shared


def fitted(frame: Any, width: int, keep: Sequence[str] = ()) -> ScreenTable:
    """Choose the columns of a Polars frame that fit into `width` characters, and how wide each one is."""
    texts = {name: [name, *shown_column(frame, name)] for name in frame.columns}
    least = {name: _longest(texts[name], str.split) for name in texts}
    full = {name: _longest(texts[name], str.splitlines) for name in texts}
    columns = list(frame.columns)
    kept = [name for name in keep if name in columns] or columns[:1]
    if first := next((place for place, name in enumerate(columns) if name in keep and _is_number(frame, name)), 0):
        kept += [name for name in columns[:first] if name not in kept and not _is_number(frame, name)]
    empty = [name for name in columns if frame.height and not any(texts[name][1:])]
    others = [name for name in columns[::-1] if name not in empty and name not in kept]
    for name in (*empty[::-1], *others):
        if _taken(least, columns) <= width:
            break
        if len(columns) > 1 and name in columns:
            columns.remove(name)
            columns = [other for other in columns if other in kept or other != _other_end(name)] or columns
    foldable = {name: texts[name] for name in columns if keep and name in kept and not _is_number(frame, name)}
    gap = _fold(least, columns, foldable, width)
    for name in kept[:0:-1]:
        if _taken(least, columns, gap) <= width:
            break
        if name in columns and name not in keep[:1]:
            columns.remove(name)
            columns = [other for other in columns if other != _other_end(name)]
    left_out = [name for name in frame.columns if name not in columns and name not in empty]
    return ScreenTable(frame.select(columns), "", left_out, _widths(least, full, columns, width, gap), gap)


def _other_end(name: str) -> str:
    """Return the other end of an interval, of which half says nothing; else the name itself."""
    stem, _, end = name.rpartition("_")
    return f"{stem}_{_ENDS.get(end, end)}" if stem else name


def _is_number(frame: Any, name: str) -> bool:
    return bool(frame.schema[name].is_numeric())


def _fold(least: dict[str, int], columns: list[str], foldable: Mapping[str, list[str]], width: int) -> int:
    """Narrow columns of names until all fit: down to their longest part, then within words. Return the gap."""
    parts = {name: min(least[name], _longest(cells, _parts_of_words)) for name, cells in foldable.items()}
    words = {name: min(least[name], _NARROWEST) for name in foldable}
    for gap, floor in ((_COLUMN_GAP, parts), (_NARROW_GAP, parts), (_NARROW_GAP, words)):
        while _taken(least, columns, gap) > width:
            wider = [name for name in foldable if least[name] > floor[name]]
            if not wider:
                break
            least[max(wider, key=lambda name: least[name])] -= 1
        if _taken(least, columns, gap) <= width:
            return gap
    return _NARROW_GAP


def _parts_of_words(text: str) -> list[str]:
    return [part for word in text.split() for part in _JOINTS.split(word)]


def _longest(cells: Iterable[str], parts: Callable[[str], list[str]]) -> int:
    return max(len(part) for cell in cells for part in (parts(cell) or [""]))


def _taken(widths: Mapping[str, int], columns: Iterable[str] | None = None, gap: int = _COLUMN_GAP) -> int:
    return sum(widths[name] + gap for name in (widths if columns is None else columns))


def _widths(least: dict[str, int], full: dict[str, int], columns: list[str], width: int, gap: int) -> dict[str, int]:
    """Return the width of each column: the full one if there is room, else at most as wide as lets all fit."""
    widths = {name: full[name] for name in columns}
    most = max(widths.values(), default=0)
    while most > 1 and _taken(widths, columns, gap) > width:
        most -= 1
        widths = {name: max(least[name], min(full[name], most)) for name in columns}
    return widths


def as_table(frame: Any, title: str | None = None, shown: ScreenTable | None = None) -> Any:
    """Return a Polars data frame as a table that rich prints, its columns as wide as `shown` says."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    is_narrow = shown is not None and shown.gap < _COLUMN_GAP
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=is_narrow)
    columns = {name: shown_column(frame, name) for name in frame.columns}
    for name, dtype in frame.schema.items():
        width = None if shown is None else shown.widths.get(name)
        head = name if width is None else _folded(name, width)
        table.add_column(head, justify="right" if dtype.is_numeric() else "left", overflow="fold", width=width)
        if width is not None:
            columns[name] = [_folded(text, width) for text in columns[name]]
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(Text, row))
    return table


def _folded(text: str, width: int) -> str:
    """Return text in which words longer than the column break between their parts, if they can."""
    if len(text) <= width:
        return text
    return " ".join(_folded_word(word, width) for word in text.split(" "))


def _folded_word(word: str, width: int) -> str:
    lines = [""]
    for part in _JOINTS.split(word):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def table_as_text(frame: Any, keep: Sequence[str] = (), width: int = 100, n_rows: int = _ROWS_OF_REPR) -> str:
    """Return the first rows of a frame as a session of Python shows them, with what all rows share in a line above."""
    from rich.console import Console

    shown = screen_table(frame.head(n_rows), width, keep)
    stream = StringIO()
    Console(file=stream, width=width).print(as_table(shown.frame, shown=shown))
    more = f"… {frame.height - n_rows:,} more rows" if frame.height > n_rows else ""
    body = "\n".join(line.rstrip() for line in stream.getvalue().splitlines() if line.strip())
    return "\n".join(filter(None, [shown.above, body, more]))


def table_as_html(frame: Any, keep: Sequence[str] = (), n_rows: int = 100) -> str:
    """Return the same for a notebook; all that models or files wrote is escaped."""
    shown = frame.head(n_rows)
    shared = _shared(shown, keep)
    columns = [name for name in shown.columns if name not in shared and shown[name].null_count() < shown.height]
    heads = "".join(f"<th>{escape(name)}</th>" for name in columns)
    cells = {name: shown_column(shown, name) for name in columns}
    rows = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in zip(*cells.values(), strict=True)]
    above = "; ".join(f"{escape(name)}: {escape(value)}" for name, value in shared.items())
    more = f"<p>… {frame.height - n_rows:,} more rows</p>" if frame.height > n_rows else ""
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<p>{above}</p><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"
