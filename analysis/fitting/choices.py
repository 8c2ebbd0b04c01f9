"""Fit effects of conditions on choices, for designs whose answers go with the usual association or against it
(`choice`).

Choose which kept models of choice in games are shown: sampling takes minutes, so no page starts it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Answer, Call, computed
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import rows_of_source
from slant.analysis.rows.views import read_view, set_measure, with_labels
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import Study
from slant.collector.study.crossed_fits import CROSSED


def newest_fits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the last fit of each cell, in their order, without `fitted_at`; `rows` are of a view that has
    it.
    """
    cell = [*GRAIN, "model", "fit"]
    last = rows.group_by(cell).agg(pl.col("call_id").sort_by("fitted_at", "call_id").last())
    newest = rows.join(last, on=[*cell, "call_id"], how="semi", nulls_equal=True, maintain_order="left")
    return newest.drop("fitted_at")


CELL = (*GRAIN, "model", "test")


def read_choices(db: str | Path, study: Study, source: str | None) -> pl.DataFrame:
    """Return the answers of a design with choices (its `checked_view`), including missing ones."""
    with reading(db) as connection:
        set_measure(connection, None)
        frame = with_labels(read_view(connection, study.design.analyses.checked_view), connection)
    return rows_of_source(frame, db, study, source)


def crossed_choices(
    db: str | Path, study: Study, source: str | None, workers: Workers, progress: Progress | None = None
) -> dict[str, pl.DataFrame]:
    """Return the tables effects and shares of R's fit_crossed() for the choices of each cell, 0 and 1, in a linear
    model: a difference of proportions needs only their variances. Cells in which all answers are equal are left out.

    Raise DatabaseError if no cell is left.
    """
    choice = study.design.analyses.choice
    rows = read_choices(db, study, source).filter(pl.col(choice).is_not_null())
    levels = [condition.condition for condition in study.conditions]
    groups = [name for name in ("wording", "item") if rows[name].n_unique() > 1]
    formula = f"{choice} ~ condition" + "".join(f" + (1 + condition || {name})" for name in groups)
    arguments = {"engine": CROSSED, "arguments": {"formula": formula, "levels": levels}}
    used = rows.select(*CELL, "condition", "wording", "item", pl.col(choice).cast(pl.Float64))
    cells = used.partition_by(CELL, maintain_order=True)
    calls = [Call("run_fit", cell.drop(CELL), arguments, packages=("lme4", "lmerTest")) for cell in cells]
    found: list[tuple[int, Answer]] = []
    for number, answer in computed(calls, workers):
        found += [(number, answer)] if "shares" in answer.frames else []
        if progress:
            progress(number + 1, len(calls))
    if not found:
        raise DatabaseError(f'No effect of conditions can be estimated: in no cell of "{db}" do answers differ.')

    def table(name: str) -> pl.DataFrame:
        in_order = sorted(found, key=lambda pair: pair[0])
        keys = {number: [pl.lit(cells[number][name][0]).alias(name) for name in CELL] for number, _ in in_order}
        return pl.concat([answer.frames[name].select(*keys[number], pl.all()) for number, answer in in_order])

    return {name: table(name) for name in ("effects", "shares")}
