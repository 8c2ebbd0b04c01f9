"""What choices bring: chances of success group by group, what a success is worth and what a failure costs.

In a study file these are tables by the names of the groups (`worth = { A = 90, B = 60 }`), all groups in each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from slant.collector.errors import StudyError
from slant.collector.study.toml_table import Table, unknown_key

MOST_POINTS = 1_000_000
Numbers = tuple[float, ...]


def parse_payoff(table: Table, key: str, groups: Sequence[str], default: float) -> Numbers:
    """By group, the points that a success brings or a failure costs: one number for all, or a table by name."""
    what = f'"{key}" in {table.where}'
    value = table.optional(key, (int, float, dict), "a number, or a table by group")
    if isinstance(value, dict):
        return _by_name(table.table(key), groups, MOST_POINTS)
    return (_number(default if value is None else value, what, MOST_POINTS),) * len(groups)


def parse_chances(success: Table, groups: Sequence[str], classes: Sequence[str]) -> tuple[Numbers, ...]:
    """By class, the chance of each group, as `by_group` (alike in all classes) or `by_class` gives it."""
    if success.mapping("by_group"):
        return (_by_name(success.table("by_group"), groups, 1),) * len(classes)
    by_class, tables = success.table("by_class"), success.tables("by_class")
    for name in tables:
        if name not in classes:
            raise unknown_key(name, by_class.where, classes)
    _check_all(by_class, list(tables), classes, "class")
    return tuple(_by_name(tables[name], groups, 1) for name in classes)


def gains(chances: Sequence[float], worth: Sequence[float], loss: Sequence[float]) -> list[float]:
    """What each group brings on average."""
    return [p * won - (1 - p) * lost for p, won, lost in zip(chances, worth, loss, strict=True)]


def _by_name(row: Table, names: Sequence[str], most: float) -> Numbers:
    values = {name: row.optional(name, (int, float), "a number") for name in names}
    row.finish()
    _check_all(row, [name for name, value in values.items() if value is not None], names, "group")
    return tuple(_number(values[name], f'"{name}" in {row.where}', most) for name in names)


def _check_all(row: Table, entries: Sequence[str], names: Sequence[str], description: str) -> None:
    for name in names:
        if name not in entries:
            raise StudyError(f'{row.where} must name every {description}, but "{name}" is missing.')


def _number(value: object, what: str, most: float) -> float:
    # not (… <= …) also where it is no number at all, as nan is
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise StudyError(f"{what} must be a number from 0 to {most:,}, but it is {value!r}.")
    return float(value)
