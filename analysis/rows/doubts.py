"""Group what is doubtful about fits and checks by its kind: one sentence each, with the number of cells and the worst
one; the cells themselves are rows of a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from slant.collector.study.crossed_fits import CROSSED
from slant.collector.terminal import count_text

_GRAIN = ("source", "study_version", "variant", "model", "test")
CELLS = ("kind", *_GRAIN, "fits", "what")


@dataclass(frozen=True)
class Doubt:
    """Hold one kind of doubt: its sentence, and its cells (columns CELLS). A note changes no conclusion."""

    sentence: str
    cells: pl.DataFrame
    is_note: bool = False

    def __str__(self) -> str:
        return f"{'Note' if self.is_note else 'Caution'}: {self.sentence}"


@dataclass(frozen=True)
class _Said:
    """Hold what one fit says of one cell: `share`, how bad it is, where the words tell."""

    cell: Mapping[str, Any]
    fit: str
    text: str
    match: re.Match[str] | None

    @property
    def share(self) -> float:
        of_whole = self.match.groupdict().get("share") if self.match else None
        percent = of_whole or next(iter(re.findall(r"\((\d+) ?%\)", self.text)), "0")
        return float(percent)


@dataclass(frozen=True)
class _Kind:
    """Describe a kind of doubt: the words by which R or a fit says it, its sentence (of the cells in words, the worst
    and the fits), and what stands in the table of its cells."""

    name: str
    pattern: str
    sentence: Callable[[str, str, _Said], str]
    what: Callable[[re.Match[str]], str]
    is_note: bool = False


def _note(name: str, pattern: str, words: str) -> _Kind:
    """Make a note of what R says itself, after `words` and the number of cells."""
    return _Kind(name, pattern, lambda cells, _, said: f"{words} in {cells}: {said.text}", lambda match: match[0], True)


_LOST = r"(?P<n>[\d,]+) of (?P<of>[\d,]+) rows \((?P<share>\d+)%\) are left out \((?P<reasons>.*?)\)"
_KINDS = (
    _Kind(
        "excluded unequally",
        rf"{_LOST}, unequally: (?P<sides>.*?)\. What is compared",
        lambda cells, worst, said: (
            f"Answers are excluded more often in one condition than in another in {cells}, most often in {worst} "
            f"({said.match['share']} %). The remaining answers are a biased selection, which may itself cause a "  # type: ignore[index]
            "difference between conditions."
        ),
        lambda match: f"{match['n']} of {match['of']} excluded ({match['share']} %): {match['sides']}",
    ),
    _Kind(
        "excluded",
        rf"{_LOST}\.",
        lambda cells, worst, said: (
            f"Many answers are excluded in {cells}, most in {worst} ({said.match['share']} %). "  # type: ignore[index]
            "Results hold for the remaining answers only."
        ),
        lambda match: f"{match['n']} of {match['of']} excluded ({match['share']} %)",
    ),
    _Kind(
        "variance of 0",
        r"boundary \(singular\) fit.*|Singular: (?P<terms>.*)",
        lambda cells, worst, said: (
            f"A variance is estimated as 0 in {cells}"
            + (
                "; standard errors and degrees of freedom still count it as unknown."
                if said.fit == CROSSED
                else "; the fit is then that of a model without it."
            )
        ),
        lambda match: match.groupdict().get("terms") or "a variance is 0",
        is_note=True,
    ),
    _note("shorter formula", r".*: the formula is now .*", "The formula is shorter than the study's"),
    _note(
        "separation under priors",
        r"Complete separation .*kept finite by the priors.*",
        "Priors decide some coefficients",
    ),
)


def grouped_doubts(fits: Iterable[pl.DataFrame]) -> list[Doubt]:
    """Return the doubts about several fits (their diagnostics: `status`, `messages`, `fit`, and columns of cells),
    those first that may change a conclusion. What several fits say of the same cells stands once.
    """
    frames = [frame for frame in fits if not frame.is_empty()]
    said: dict[tuple[Any, ...], list[_Said]] = {}
    whole: dict[str, set[tuple[Any, ...]]] = {}
    for frame in frames:
        for row in frame.to_dicts():
            cell = {name: row.get(name) for name in _GRAIN}
            fit = str(row.get("fit") or "")
            whole.setdefault(fit, set()).add(tuple(cell.values()))
            for text in _texts(row):
                kind, match = _kind_of(text)
                # how singular fits of words are reported differs from how others are
                key = (kind or re.sub(r"\d[\d,.]*", "#", text), kind is not None and kind.is_note and fit == CROSSED)
                said.setdefault(key, []).append(_Said(cell, fit, text, match))
    doubts = [_doubt(key[0] if isinstance(key[0], _Kind) else None, found, whole) for key, found in said.items()]
    return sorted(doubts, key=lambda doubt: doubt.is_note)


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what makes a fit doubtful. A message only says what was done, unless it is of a kind that a reader of the
    numbers must know, or nothing else explains the status."""
    lines = [line for line in (row["messages"] or "").split("\n") if line.strip()]
    kinds = [line.partition(": ") for line in lines]
    telling = [text for kind, _, text in kinds if kind == "message" and _kind_of(text)[0] is not None]
    if row["status"] == "ok":
        yield from (" ".join(text.split()) for text in telling)
        return
    telling = [text for kind, _, text in kinds if kind in ("warning", "error")] + telling
    for text in telling or [" ".join(lines) or f"The fit is {row['status']}."]:
        yield " ".join(text.split())


def _kind_of(text: str) -> tuple[_Kind | None, re.Match[str] | None]:
    for kind in _KINDS:
        if match := re.match(kind.pattern, text):
            return kind, match
    return None, None


def _doubt(kind: _Kind | None, said: list[_Said], whole: Mapping[str, set[tuple[Any, ...]]]) -> Doubt:
    by_cell: dict[tuple[Any, ...], list[_Said]] = {}
    for one in said:
        by_cell.setdefault(tuple(one.cell.values()), []).append(one)
    worst = max(said, key=lambda one: one.share)
    all_cells = set().union(*whole.values())
    several = [name for place, name in enumerate(_GRAIN[:3]) if len({cell[place] for cell in all_cells}) > 1]
    where = _cell_words(worst.cell, several)
    fits = _listed({one.fit for one in said if one.fit})
    among = _among(len(by_cell), len(set().union(*(whole[one.fit] for one in said))))
    if kind is not None:
        sentence = kind.sentence(f"{among} ({fits})" if fits else among, where, worst)
    else:
        example = where if len(by_cell) == 1 else f"{among}, such as {where}"
        sentence = f"{fits + ', ' if fits else ''}{example}: {worst.text}"
    is_note, name = (kind.is_note, kind.name) if kind else (False, "caution")
    rows = [
        {"kind": name, **ones[0].cell, "fits": _listed({one.fit for one in ones}), "what": _what(kind, ones[0])}
        for ones in by_cell.values()
    ]
    return Doubt(sentence, pl.DataFrame(rows, schema=dict.fromkeys(CELLS, pl.String)), is_note)


def _among(n: int, of: int) -> str:
    return f"all {count_text(n, 'cell')}" if n == of > 1 else f"{n:,} of {count_text(of, 'cell')}"


def _what(kind: _Kind | None, said: _Said) -> str:
    return kind.what(said.match) if kind is not None and said.match is not None else said.text


def _cell_words(cell: Mapping[str, Any], several: Collection[str]) -> str:
    named = [cell["model"] or "all models", cell["test"], *(cell[name] for name in several)]
    return ", ".join(str(name) for name in named if name)


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names))
