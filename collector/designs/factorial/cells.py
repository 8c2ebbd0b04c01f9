"""The cells of a study: all combinations of levels but for forbidden ones, counted and drawn without being listed.

Factors that forbidden combinations link are listed together (education and job, say), all others apart; a cell is one
choice from each list. So every allowed cell is as likely as any other, and shares of levels are exact.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from slant.collector.designs.factorial.factors import Factor
from slant.collector.errors import StudyError, UnknownNameError, check_known
from slant.collector.study.toml_table import Table

MOST_CELLS = 10_000_000
MOST_LINKED = 1_000_000
Cell = tuple[int, ...]
"""The number of a level for each factor, in the study's order."""
Forbidden = Mapping[int, frozenset[int]]
"""Levels that may not come together, by factor, each by its number."""


@dataclass(frozen=True)
class Cells:
    """Hold the cells of factors: `lists` are the allowed combinations of the factors in `linked`, list by list;
    together these are all factors."""

    factors: tuple[Factor, ...]
    linked: tuple[tuple[int, ...], ...]
    lists: tuple[tuple[Cell, ...], ...]

    @property
    def n(self) -> int:
        """Return the number of allowed cells."""
        return prod(map(len, self.lists))

    def cell(self, number: int) -> Cell:
        """Return a cell by its number, from 0."""
        places = []
        for combinations in reversed(self.lists):
            number, place = divmod(number, len(combinations))
            places.append(combinations[place])
        return self._joined(places[::-1])

    def drawn(self, rng: random.Random) -> Cell:
        """Return a cell at random; each is as likely."""
        return self._joined([combinations[int(rng.random() * len(combinations))] for combinations in self.lists])

    def balanced(self, n: int, rng: random.Random) -> list[Cell]:
        """Return `n` cells in which each level (each allowed combination of linked factors) occurs equally often, but
        for one.
        """
        columns = []
        for combinations in self.lists:
            rounds, more = divmod(n, len(combinations))
            column = list(combinations) * rounds + rng.sample(combinations, more)
            rng.shuffle(column)
            columns.append(column)
        return [self._joined(list(row)) for row in zip(*columns, strict=True)]

    @cached_property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """Return the share of the allowed cells with each level, factor by factor."""
        shares: list[tuple[float, ...]] = [()] * len(self.factors)
        for linked, combinations in zip(self.linked, self.lists, strict=True):
            for place, factor in enumerate(linked):
                counts = [0] * len(self.factors[factor].levels)
                for combination in combinations:
                    counts[combination[place]] += 1
                shares[factor] = tuple(count / len(combinations) for count in counts)
        return tuple(shares)

    def _joined(self, parts: Sequence[Cell]) -> Cell:
        cell = [0] * len(self.factors)
        for linked, part in zip(self.linked, parts, strict=True):
            for factor, level in zip(linked, part, strict=True):
                cell[factor] = level
        return tuple(cell)


def make_cells(
    factors: tuple[Factor, ...], rules: Sequence[Forbidden], where: str, changing: Sequence[int] = ()
) -> Cells:
    """Return the cells of these factors without those that a rule forbids; StudyError if a level is in none of them,
    or if rules link more factors than can be listed, as their combinations can't be listed. Of the factors `changing`
    (by number) at most one is at another level than its first.
    """
    if changing and (both := next((rule for rule in rules if set(rule) & set(changing)), None)):
        names = " and ".join(factors[factor].name for factor in both)
        raise StudyError(f"{where} forbids combinations of {names}, which are changed one at a time.")
    together = [frozenset(changing)] if changing else []
    linked = _linked(len(factors), [*rules, *(dict.fromkeys(group, frozenset()) for group in together)])
    lists = []
    for group in linked:
        if set(group) == set(changing):
            lists.append(tuple(_one_at_a_time([len(factors[factor].levels) for factor in group])))
            continue
        sizes = [len(factors[factor].levels) for factor in group]
        if prod(sizes) > MOST_LINKED:
            names = ", ".join(factors[factor].name for factor in group)
            raise StudyError(
                f"The forbidden combinations of {where} link the factors {names}, which have {prod(sizes):,} "
                f"combinations; at most {MOST_LINKED:,} can be listed."
            )
        own = [rule for rule in rules if set(rule) <= set(group)]
        lists.append(tuple(cell for cell in product(*map(range, sizes)) if not _is_forbidden(cell, group, own)))
    _check_levels(factors, linked, lists, where)
    return Cells(factors, linked, tuple(lists))


def _one_at_a_time(sizes: Sequence[int]) -> Iterator[Cell]:
    """Yield the baseline, where all factors are at their first level, then each of its single changes."""
    yield (0,) * len(sizes)
    for place, size in enumerate(sizes):
        yield from (tuple(level if at == place else 0 for at in range(len(sizes))) for level in range(1, size))


def _linked(n: int, rules: Sequence[Forbidden]) -> tuple[tuple[int, ...], ...]:
    groups = [{factor} for factor in range(n)]
    for rule in rules:
        touched = [group for group in groups if group & set(rule)]
        groups = [group for group in groups if group not in touched] + [set().union(*touched)]
    return tuple(sorted(tuple(sorted(group)) for group in groups if group))


def _is_forbidden(cell: Cell, group: tuple[int, ...], rules: Sequence[Forbidden]) -> bool:
    levels = dict(zip(group, cell, strict=True))
    return any(all(levels[factor] in forbidden for factor, forbidden in rule.items()) for rule in rules)


def _check_levels(
    factors: Sequence[Factor], linked: Sequence[tuple[int, ...]], lists: Sequence[Sequence[Cell]], where: str
) -> None:
    for group, combinations in zip(linked, lists, strict=True):
        for place, factor in enumerate(group):
            left = {combination[place] for combination in combinations}
            for number, level in enumerate(factors[factor].levels):
                if number not in left:
                    raise StudyError(
                        f'The forbidden combinations of {where} leave no cell with the level "{level.name}" of '
                        f'"{factors[factor].name}".',
                        "Take the level out, or allow one of its combinations.",
                    )


def nested_rules(factors: Sequence[Factor], where: str) -> list[Forbidden]:
    """Return the rules that nested factors imply: no level where the factor does not exist, and always one where it
    does."""
    rules: list[Forbidden] = []
    by_name = {factor.name: number for number, factor in enumerate(factors)}
    for number, factor in enumerate(factors):
        if factor.within is None:
            continue
        name, inside = factor.within
        if name not in by_name or name == factor.name:
            raise UnknownNameError(f'factor (of within, "{factor.name}") in {where}', name, by_name)
        levels = [level.name for level in factors[by_name[name]].levels]
        for level in inside - set(levels):
            raise UnknownNameError(f'level of "{name}" (of within, "{factor.name}") in {where}', level, levels)
        outside = frozenset(place for place, level in enumerate(levels) if level not in inside)
        absent = len(factor.levels) - 1
        within = frozenset(range(len(levels))) - outside
        rules += [
            {by_name[name]: outside, number: frozenset(range(absent))},
            {by_name[name]: within, number: frozenset([absent])},
        ]
    return rules


def parse_forbidden(table: Table, factors: Sequence[Factor]) -> list[Forbidden]:
    """Read `forbidden`: tables of factors, each with a level or a list of levels, that may not come together."""
    rules: list[Forbidden] = []
    by_name = {factor.name: number for number, factor in enumerate(factors)}
    combinations = table.optional("forbidden", list, "an array of tables") or []
    for row, named in zip(table.rows("forbidden"), combinations, strict=True):
        rule: dict[int, frozenset[int]] = {}
        for name in named:
            check_known(f"factor in {row.where}", name, by_name)
            value = row.optional(name, (str, int, list), "a level or a list of levels")
            names = [level.name for level in factors[by_name[name]].levels]
            wanted = [str(level) for level in (value if isinstance(value, list) else [value])]
            for level in wanted:
                check_known(f'level of "{name}" in {row.where}', level, names)
            rule[by_name[name]] = frozenset(names.index(level) for level in wanted)
        if len(rule) < 2:
            raise StudyError(
                f"{row.where} must name two factors or more: which of their levels may not come together.",
                'As in: forbidden = [{ job = "doctor", education = "none" }]',
            )
        rules.append(rule)
    return rules
