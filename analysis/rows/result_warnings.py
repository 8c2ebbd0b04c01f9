"""Warn about results, in sentences: trials that are combined although they were not asked or counted alike, indices of
games that lack the level of chance; and group what is doubtful about fits and checks by its kind, one sentence each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.rows.views import read_view, set_measure, stored_views
from slant.collector.errors import as_typed
from slant.collector.keep.database import reading
from slant.collector.progress.status import MAX_LOST, other_model_sentences
from slant.collector.provenance.bibtex import address_rows, address_sentences
from slant.collector.study.crossed_fits import CROSSED
from slant.collector.terminal import count_text

Key = tuple[str, str, str, str]  # source, study_version, variant, model
_SETTINGS = {"n_settings": "settings or frames", "n_seeds": "seeds", "n_providers": "providers or names of the model"}


def mixture_warnings(
    db: str | Path, study: str | None = None, source: str | None = None, measure: str | None = None
) -> list[str]:
    """Return a sentence for each model whose trials are not all alike (table mixed_cells), in the order of that table;
    before them one for each run that was set aside, after them one for each model that another one answered for, or
    that was asked at several addresses.
    """
    with reading(db) as connection:
        set_measure(connection, measure)
        rows = read_view(connection, "mixed_cells", study=study, source=source)
        aside = set_aside_sentences(connection, study)
    mixed = [f"Mixed: {row['model']} ({_where(row, rows)}) has {', '.join(_kinds(row))}." for row in rows.to_dicts()]
    mixed = [*aside, *mixed]
    if source not in (None, "collected"):
        return mixed
    return [*mixed, *other_model_sentences(Path(db), study), *address_sentences(address_rows(db, study))]


def set_aside_sentences(connection: duckdb.DuckDBPyConnection, study: str | None) -> list[str]:
    """Return the runs that were set aside and the reasons: readers must see them wherever numbers are shown."""
    if "set_aside_runs" not in stored_views(connection):
        return []
    of_models = read_view(connection, "set_aside_runs", study=study)
    rows = of_models.group_by("run_id", "reason", maintain_order=True).agg(pl.col("n_trials").sum()).to_dicts()
    return [
        f"Set aside: run {row['run_id']} ({count_text(row['n_trials'], 'trial')}), excluded from all results: "
        f"{row['reason']}"
        for row in rows
    ]


def model_mixture_warnings(rows: pl.DataFrame) -> dict[Key, str]:
    """Return the warning on each model that was queried in several ways, for its fits. The kind of tokens is visible in
    a fit's own rows."""
    sentences = {}
    for row in rows.to_dicts():
        if kinds := _setting_counts(row):
            sentence = f"{row['model']} was queried in several ways, which are mixed: {', '.join(kinds)}"
            key = (row["source"], row["study_version"], row["variant"], row["model"])
            sentences[key] = f"{sentence} (table mixed_cells)."
    return sentences


def _where(row: dict[str, Any], among: pl.DataFrame) -> str:
    """Return the source, and the study version and variant if there are several."""
    several = [name for name in ("study_version", "variant") if among[name].n_unique() > 1]
    return ", ".join(str(row[name]) for name in ("source", *several))


def _setting_counts(row: dict[str, Any]) -> list[str]:
    return [f"{row[column]} {words}" for column, words in _SETTINGS.items() if row[column] > 1]


def _kinds(row: dict[str, Any]) -> list[str]:
    counted = [f"token counts of {row['n_token_sources']} kinds ({row['token_sources']})"]
    return [*_setting_counts(row), *(counted if row["n_token_sources"] > 1 else [])]


def chance_warnings(tables: Mapping[str, pl.DataFrame], db: str | Path) -> Iterator[str]:
    """Yield a sentence for each study whose indices lack the level of chance, or have intervals of fewer games."""
    if "allocation_indices" in tables:
        complete = tables["allocation_indices"].filter(pl.col("si").is_not_null())
        lacking = complete.filter(pl.col("random_si").is_null()).group_by("study").len()
        for study, n in lacking.sort("study").iter_rows():
            yield (
                f"The level of chance has not been simulated yet for {n} cells of {study}, and is missing: "
                f"analyze indices --study {study} --db {as_typed(db)}"
            )
    if "game_index_intervals" in tables:
        stale = tables["game_index_intervals"].filter(~pl.col("is_current"))
        for study in stale["study"].unique().sort():
            yield (
                f"Games of {study} were added or ended after some of these intervals were computed (is_current is "
                f"false): analyze indices --study {study} --db {as_typed(db)}"
            )


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
    and the fits), and the columns that its table of cells shows."""

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
            f"More than {100 * MAX_LOST:.0f} % of answers are excluded in {cells}, most in {worst} "
            f"({said.match['n']} of {said.match['of']}). Results hold for the remaining answers only."  # type: ignore[index]
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
    _Kind(
        "independent rows",
        r"Rows are taken as independent: no cluster is named\.",
        lambda cells, worst, said: (
            f"Each row is taken as independent in {cells}. If rows share a word, a prompt or a person, intervals are "
            'too narrow: name it in the fit, as in settings = { cluster = "item" }'
        ),
        lambda match: match[0],
    ),
    # a level of another factor in one cluster (one name a gender) is a limit, and no note
    _note(
        "levels are clusters",
        r'All rows of a level of "(?P<factor>[^"]+)" are in one cluster \("(?P=factor)"\).*',
        "Each level is a cluster",
    ),
    _note("no personas", r"No rows are left: all [\d,]+ have a missing value in persona\.", "People have no personas"),
    _note("nothing to compare", r"Can't compare levels of .*: it has one level here\.", "There is nothing to compare"),
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
    """Yield the reasons to doubt a fit. A message only says what was done, unless it is of a kind that a reader of the
    numbers must know, or nothing else explains the status."""
    lines = [line for line in (row["messages"] or "").split("\n") if line.strip()]
    kinds = [line.partition(": ") for line in lines]
    telling = [text for kind, _, text in kinds if kind == "message" and _kind_of(text)[0] is not None]
    if row["status"] == "ok":
        yield from (" ".join(text.split()) for text in telling)
        return
    telling = [text for kind, _, text in kinds if kind in ("warning", "error")] + telling
    if len(telling) > 1:  # R's "There are no rows." follows from why there are none
        telling = [text for text in telling if text != "There are no rows."]
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
    named = [worst.cell["model"] or "all models", worst.cell["test"], *(worst.cell[name] for name in several)]
    where = ", ".join(str(name) for name in named if name)
    fits = ", ".join(sorted({one.fit for one in said if one.fit}))
    n, of = len(by_cell), len(set().union(*(whole[one.fit] for one in said)))
    among = f"all {count_text(n, 'cell')}" if n == of > 1 else f"{n:,} of {count_text(of, 'cell')}"
    if kind is not None:
        sentence = kind.sentence(f"{among} ({fits})" if fits else among, where, worst)
    else:
        example = where if len(by_cell) == 1 else f"{among}, such as {where}"
        sentence = f"{fits + ', ' if fits else ''}{example}: {worst.text}"
    is_note, name = (kind.is_note, kind.name) if kind else (False, "caution")
    rows = []
    for first, *more in by_cell.values():
        what = kind.what(first.match) if kind is not None and first.match is not None else first.text
        of_fits = ", ".join(sorted({first.fit, *(one.fit for one in more)}))
        rows.append({"kind": name, **first.cell, "fits": of_fits, "what": what})
    return Doubt(sentence, pl.DataFrame(rows, schema=dict.fromkeys(CELLS, pl.String)), is_note)
