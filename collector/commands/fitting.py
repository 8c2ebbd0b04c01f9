"""Which columns of a table a terminal has room for. Words are never broken: where not all columns can have their
longest words on a line, some are left out: those without any value first, then the last ones."""

from __future__ import annotations

from typing import Any

from slant.collector.commands.output import shown_cell

_BETWEEN = 3  # characters that rich puts between two columns


def fitted(frame: Any, width: int) -> tuple[Any, list[str], dict[str, int]]:
    """The columns of a Polars frame that fit into `width` characters, those left out, and how wide each one is."""
    texts = {name: [name, *map(shown_cell, frame[name])] for name in frame.columns}
    least = {name: max(len(word) for text in its for word in (text.split() or [""])) for name, its in texts.items()}
    full = {name: max(len(line) for text in its for line in (text.splitlines() or [""])) for name, its in texts.items()}
    kept = list(frame.columns)
    empty = [name for name in kept if frame.height and not any(texts[name][1:])]
    for name in (*empty[::-1], *[name for name in kept[:0:-1] if name not in empty]):
        if _taken(least, kept) <= width:
            break
        if name != frame.columns[0]:
            kept.remove(name)
    widths = _widths(least, full, kept, width)
    return frame.select(kept), [name for name in frame.columns if name not in kept and name not in empty], widths


def _taken(widths: dict[str, int], kept: list[str]) -> int:
    return sum(widths[name] + _BETWEEN for name in kept)


def _widths(least: dict[str, int], full: dict[str, int], kept: list[str], width: int) -> dict[str, int]:
    """All that each column asks for, where there is room; else no column is wider than need be for all to fit."""
    widths = {name: full[name] for name in kept}
    most = max(widths.values(), default=0)
    while most > 1 and _taken(widths, kept) > width:
        most -= 1
        widths = {name: max(least[name], min(full[name], most)) for name in kept}
    return widths
