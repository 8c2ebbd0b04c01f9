"""List the comparisons of conditions in a question: pairs of cells, or of several cells pooled, that are
comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from slant.analysis.questions.games.cells import GameCell
from slant.collector.errors import UnknownNameError, UsageError

ATTRIBUTES = ("model", "variant", "answer_format")
"""List what conditions may differ in; `variant` is without its answer format."""
KIND = "kind"
"""Name the column of pooled models, variants and answer formats: R deals games out only among those of one kind."""


@dataclass(frozen=True)
class Question:
    """Define what is compared: values of `between`, each but `reference` with it, within each value of the columns
    `by`.

    `conditions`: those to compare; all if none is named.
    """

    between: str
    reference: str
    by: tuple[str, ...]
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Hold two sides of one comparison: the cells of the condition, and those of the reference."""

    between: str
    within: Mapping[str, str | None]
    condition: str
    reference: str
    cells: tuple[GameCell, ...]
    reference_cells: tuple[GameCell, ...]

    @property
    def key(self) -> dict[str, Any]:
        """Return the columns that name it; those of ATTRIBUTES are None if they are compared or pooled."""
        first = {name: self.cells[0].key[name] for name in ("source", "study", "study_version")}
        sides = {"condition": self.condition, "reference": self.reference}
        return {**first, "between": self.between, **self.within, **sides}

    @property
    def rounds(self) -> pl.DataFrame:
        sides = ((self.condition, self.cells), (self.reference, self.reference_cells))
        return pl.concat(
            cell.rounds.with_columns(pl.lit(name).alias(self.between), pl.lit(self._kind(cell)).alias(KIND))
            for name, cells in sides
            for cell in cells
        )

    @property
    def n_classes(self) -> int:
        return self.cells[0].n_classes

    @property
    def problem(self) -> str | None:
        """Return the reason why these can't be compared; None if they can."""
        shapes = [{(c.chance.n_rounds, c.chance.n_groups, c.n_classes) for c in side} for side in self._sides]
        if shapes[0] != shapes[1] or len(shapes[0]) > 1:
            return "rounds, groups or classes of the games differ, and with them the level of chance"
        if alone := sorted(set.symmetric_difference(*(set(kinds) for kinds in self._kinds))):
            return f"in one of the two alone there is {', '.join(alone)}, and they would differ in that, too"
        if min(sum(cell.chance.n_games for cell in side) for side in self._sides) < 2:
            return "one game on a side can't be resampled"
        return None

    @property
    def has_unequal_chance(self) -> bool:
        """Return whether jobs in a class differ: chance alone then gives the two sides somewhat different levels."""
        return len({(tuple(c.chance.sizes), c.chance.is_balanced) for side in self._sides for c in side}) > 1

    @property
    def has_other_shares(self) -> bool:
        """Return whether what is pooled has other shares of the games on either side, so that the sides differ in that,
        too."""
        kinds, reference_kinds = self._kinds
        n, n_reference = sum(kinds.values()), sum(reference_kinds.values())
        return any(kinds[kind] * n_reference != reference_kinds[kind] * n for kind in kinds)

    @property
    def _kinds(self) -> tuple[Counter[str], Counter[str]]:
        """Return the kinds of games that are pooled on either side, and how many of each."""
        counts = [Counter[str](), Counter[str]()]
        for side, count in zip(self._sides, counts, strict=True):
            for cell in side:
                count[self._kind(cell)] += cell.chance.n_games
        return counts[0], counts[1]

    def _kind(self, cell: GameCell) -> str:
        pooled = (name for name in ATTRIBUTES if name != self.between and self.within.get(name) is None)
        return " ".join(cell.attributes[name] for name in pooled)

    @property
    def _sides(self) -> tuple[tuple[GameCell, ...], tuple[GameCell, ...]]:
        return self.cells, self.reference_cells

    def __str__(self) -> str:
        shared = ", ".join(str(value) for value in self.within.values() if value is not None)
        return f"{self.condition} and {self.reference}" + (f" ({shared})" if shared else "")


def list_comparisons(cells: Sequence[GameCell], question: Question) -> list[Comparison]:
    """Return all pairs that the question asks for, in the order of the cells; sources and versions are never mixed.

    Raise UnknownNameError for a reference or condition that no cell has, UsageError if none meets the reference.
    """
    values = list(dict.fromkeys(cell.attributes[question.between] for cell in cells))
    for name in (question.reference, *question.conditions):
        if name not in values:
            raise UnknownNameError(f"{question.between} with complete games", name, sorted(values))
    groups: dict[tuple[str | None, ...], list[GameCell]] = {}
    for cell in cells:
        attributes = [cell.attributes[name] if name in question.by else None for name in ATTRIBUTES]
        groups.setdefault((cell.key["source"], cell.key["study_version"], *attributes), []).append(cell)
    pairs = [
        pair
        for group_key, group in groups.items()
        for pair in _within(group, dict(zip(ATTRIBUTES, group_key[2:], strict=True)), question)
    ]
    if not pairs:
        raise UsageError(
            f'Nothing can be compared with the {question.between} "{question.reference}".',
            f"Complete games exist of: {', '.join(sorted(values))}.",
            f"They must share {', '.join(('source', 'study version', *question.by))} with it.",
            *["Adding a variant makes another version of its study."] * (_n_versions(cells) > 1),
        )
    return pairs


def _n_versions(cells: Sequence[GameCell]) -> int:
    return len({(cell.key["source"], cell.key["study_version"]) for cell in cells})


def _within(group: Sequence[GameCell], within: Mapping[str, str | None], question: Question) -> Iterator[Comparison]:
    sides: dict[str, list[GameCell]] = {}
    for cell in group:
        sides.setdefault(cell.attributes[question.between], []).append(cell)
    reference = tuple(sides.pop(question.reference, ()))
    for condition, cells in sides.items():
        if reference and (not question.conditions or condition in question.conditions):
            yield Comparison(question.between, within, condition, question.reference, tuple(cells), reference)
