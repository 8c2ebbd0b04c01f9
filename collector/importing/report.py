"""What an import did, and what it could not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from slant.collector.importing.layouts import Problem
from slant.collector.records import Attempt


@dataclass
class ImportReport:
    """What an import did. `run_id` is None where nothing was new. Counts by (model, test) cover what was imported;
    `refusals` by the paper's rule: the answer is not exactly one of the two options. In a study that analyses no tokens
    (`only_labels` False) they are the answers without a valid choice."""

    only_labels: bool = True
    run_id: str | None = None
    rows_imported: int = 0
    rows_already_there: int = 0
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows_by_test: Counter[tuple[str, str]] = field(default_factory=Counter)
    refusals_by_test: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, attempt: Attempt) -> None:
        self.rows_imported += 1
        cell = (attempt.model, attempt.test)
        self.rows_by_test[cell] += 1
        is_label = attempt.answer in (attempt.option_a, attempt.option_b)
        self.refusals_by_test[cell] += not (is_label if self.only_labels else attempt.outcome == "answered")

    def sort(self, models: Sequence[str], tests: Sequence[str]) -> None:
        """Put the counts into the order of the study."""
        cells = sorted(self.rows_by_test, key=lambda cell: (models.index(cell[0]), tests.index(cell[1])))
        self.rows_by_test = Counter({cell: self.rows_by_test[cell] for cell in cells})
