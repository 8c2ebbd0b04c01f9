"""Ratings of the groups after a game (an extension: the paper has such ratings of its human participants only)."""

from __future__ import annotations

from dataclasses import dataclass

from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError
from slant.collector.study.toml_table import Table, checked_name

MOST = 100
_REMINDER = "Please give one number from {low} to {high}, in the format asked for."


@dataclass(frozen=True, slots=True)
class Rating:
    """What each group is rated for, on a scale from `low` to `high`; every rating is asked for by itself."""

    name: str
    question: str
    low: int
    high: int
    reminder: str

    def asked(self, group: str) -> str:
        return self.question.format(group=group, low=self.low, high=self.high)

    def reminded(self) -> str:
        return self.reminder.format(low=self.low, high=self.high)


def parse_rating(row: Table) -> Rating:
    """One of [[ratings]]; StudyError where it breaks the rules."""
    rating = Rating(
        checked_name(row.text("rating"), "rating"),
        row.text("question"),
        row.integer("low", 1),
        row.integer("high", 7),
        row.text("reminder", _REMINDER),
    )
    row.finish()
    check_placeholders(rating.question, ("group",), ("low", "high"), f"question of {row.where}")
    check_placeholders(rating.reminder, (), ("low", "high"), f"reminder of {row.where}")
    if not 0 <= rating.low < rating.high <= MOST:
        raise StudyError(
            f"The scale of {row.where} goes from {rating.low} to {rating.high}.",
            f'"low" must be below "high", and both from 0 to {MOST}: as in low = 1, high = 7',
        )
    return rating
