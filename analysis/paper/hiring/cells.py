"""What the numbers of games are computed from: one row a model, variant and format of answers."""

from __future__ import annotations

import polars as pl

from slant.analysis.paper.family import GRAIN
from slant.analysis.paper.hiring import names
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

CELL = [*GRAIN, "model", "test", "condition"]
INDICES = ("si", "bgd", "gasi")
NEEDS = ("allocation_indices", "allocation_game_ends")
_IN_DATABASE = ["source", "study_version", "variant", "model"]


def cells(results: Results) -> pl.DataFrame:
    """CELL, the columns of allocation_indices, and `shortfall`: in words, what is not here of the games that the study
    plans; null where all of them have been played, to whatever end.
    """
    return with_shortfalls(results.table("allocation_indices"), results)


def with_shortfalls(rows: pl.DataFrame, results: Results) -> pl.DataFrame:
    """Rows of a table of games with CELL (see named), and `shortfall`."""
    ends = results.table("allocation_game_ends").select(*_IN_DATABASE, "n_open", n_begun="n_games")
    frame = named(rows.join(ends, on=_IN_DATABASE, how="left", maintain_order="left"), results)
    planned = {name: 1 if its.data.is_pooled else its.data.games for name, its in results.variants.items()}
    said = [_shortfall(row, planned.get(row["test"], 0)) for row in frame.to_dicts()]
    return frame.drop("n_open", "n_begun").with_columns(pl.Series("shortfall", said, dtype=pl.String))


def named(rows: pl.DataFrame, results: Results) -> pl.DataFrame:
    """Rows of a table of games with CELL in place of their variant: of "main.cot", `test` is "main" and `condition`
    "cot"; where nothing else was asked for, it is the format that this model usually answers in.
    """
    frames = {
        name: {"": study.frame, **{one.model: one.frame for one in study.models}}
        for name, study in results.variants.items()
    }
    tests, conditions = [], []
    for variant, model in rows.select("variant", "model").iter_rows():
        test, _, answer = variant.partition(".")
        usual = frames.get(test, {})
        tests.append(test)
        conditions.append(answer or usual.get(model) or usual.get(""))
    cell = {"test": tests, "condition": conditions}
    columns = [pl.Series(name, values, dtype=pl.String) for name, values in cell.items()]
    return rows.with_columns(*columns, variant=pl.lit(results.study.variants[0]))


def _shortfall(row: dict[str, object], planned: int) -> str | None:
    here = int(str(row["n_begun"] or 0)) - int(str(row["n_open"] or 0))
    if here >= planned:
        return None
    return f"{row['model']} in {row['test']}, {row['condition']}: all but {here} of {planned} games"


def scope(study: Study, model: str | None) -> list[tuple[str, str]]:
    """The cells (model, format of answers) that a printed number means by a name for several models."""
    if model in names.SEVERAL:
        return [(one, answer) for one in names.SEVERAL[model] for answer in ("direct", "cot")]
    asked = {one.model: one.frame for one in study.models if one.asked_by_default}
    own = [(one, frame) for one, frame in asked.items() if frame != study.frame]
    both = [(one, answer) for one, frame in asked.items() if frame == study.frame for answer in ("direct", "cot")]
    return [*both, *own] if model == names.FRONTIER else both


def _absent_in_words(absent: list[tuple[str, str, str]]) -> list[str]:
    """As "main, react: gpt-4o (cot), o3 (reasoning)": variants that lack the same are told together."""
    lacks: dict[str, list[str]] = {}
    for model, test, answer in absent:
        lacks.setdefault(test, []).append(f"{model} ({answer})")
    tests: dict[str, list[str]] = {}
    for test, its in lacks.items():
        tests.setdefault(", ".join(its), []).append(test)
    return [f"{', '.join(its)}: {words}" for words, its in tests.items()]


def absent_from(wanted: list[tuple[str, str, str]], here: pl.DataFrame) -> str | None:
    """Which of these (model, test, condition) have no games here, and what the others lack, in words; None: nothing."""
    found = {row[:-1]: row[-1] for row in here.select("model", "test", "condition", "shortfall").iter_rows()}
    absent = _absent_in_words([cell for cell in wanted if cell not in found])
    partial = [found[cell] for cell in wanted if found.get(cell)]
    return "; ".join([*absent, *partial]) or None
