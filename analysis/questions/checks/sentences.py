"""How findings of a check are said: counts, ranges, and the cells that they hold for, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

MINUS = "\N{MINUS SIGN}"
CheckRows = Mapping[str, pl.DataFrame]
"""By the name of a check, the rows that it gave."""


@dataclass(frozen=True)
class Verdict:
    """Hold what the rows of a check come to.

    standing: "not found" (nothing that changes a conclusion), "note" (worth knowing), "caution" (some
    conclusion depends on it), "not checked". sentence: one. details: more, each with its number.
    """

    standing: str
    sentence: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Hold the verdict of one check in one source, study version and variant. columns: of its rows, to show."""

    check: str
    question: str
    standing: str
    verdict: str
    details: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """Hold what sentences need besides the rows: the labels of models, tests, conditions (in the study's order), the
    marks that were set, and whether the study has a variant in which the order of options is balanced.
    """

    models: Mapping[str, str]
    tests: Mapping[str, str]
    conditions: Mapping[str, str]
    alpha: float
    bound: float
    has_balanced: bool

    def cells(self, rows: pl.DataFrame) -> str:
        """Return the cells of these rows by model: "o3-mini (Flowers/Insects); DeepSeek-R1 (2 tests …)"."""
        texts = []
        for (model,), part in rows.group_by("model", maintain_order=True):
            tests = [self.test(test) for test in part["test"].unique(maintain_order=True)]
            texts.append(f"{self.models.get(str(model), str(model))} ({'; '.join(tests)})")
        return ", ".join(texts)

    @property
    def reference(self) -> str:
        """Return the label of the first condition, with which others are compared."""
        return next(iter(self.conditions.values()), "the first condition")

    @property
    def other(self) -> str:
        """Return the label of the second condition."""
        return next(iter(list(self.conditions.values())[1:]), "the other condition")

    def model(self, row: Mapping[str, object]) -> str:
        return self.models.get(str(row["model"]), str(row["model"]))

    def cell(self, row: Mapping[str, object]) -> str:
        return f"{self.model(row)}, {self.test(str(row['test']))}"

    def in_condition(self, row: Mapping[str, object]) -> str:
        return f"{self.cell(row)}, {self.condition(row['condition'])}"

    def condition(self, condition: object) -> str:
        return self.conditions.get(str(condition), str(condition))

    def test(self, test: str) -> str:
        return self.tests.get(test, test)


def count_of(count: int, total: int, noun: str) -> str:
    """Count in words: "none of 39 models", "3 of 39 models", "all 39 models", "none of 1 model"."""
    plural = noun if total == 1 else f"{noun}s"
    if count == 0:
        return f"none of {total} {plural}"
    return f"all {total} {plural}" if count == total and total > 1 else f"{count} of {total} {plural}"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as readers write it, with a true minus; "unknown" where there is none."""
    if value is None:
        return "unknown"
    return f"{value:z,.{digits}f}".replace("-", MINUS)


def p_text(value: float | None) -> str:
    """Return "p = 0.042", or "p < 0.001" for a smaller one."""
    return "p < 0.001" if value is not None and value < 0.001 else f"p = {number(value, 3)}"


def percent(share: float | None, digits: int = 1) -> str:
    return "unknown" if share is None else f"{number(100 * share, digits)} %"


def middle(values: pl.Series) -> float | None:
    """Return the median; None of nothing."""
    return as_number(values.median())


def spread(values: pl.Series, digits: int = 2) -> str:
    """Say how values spread: "1.43 in the middle, from 0.25 to 6.29"."""
    low, high = as_number(values.min()), as_number(values.max())
    return f"{number(middle(values), digits)} in the middle, from {number(low, digits)} to {number(high, digits)}"


def as_number(value: object) -> float | None:
    """Return a value of a row that is a number, if it is known."""
    return None if value is None else float(str(value))


def standing(n_changed: int, n_failed: int) -> str:
    """Return the verdict on refits. A cell that could not be refitted may have changed, too: then there is no
    verdict."""
    return "caution" if n_changed else "note" if n_failed else "not found"


def which_cells(rows: pl.DataFrame, context: Context) -> str:
    """Name the cells of some rows; empty if there are none."""
    return f": {context.cells(rows)}" if rows.height else ""
