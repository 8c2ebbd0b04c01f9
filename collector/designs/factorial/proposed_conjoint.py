"""Recognise tasks of profiles side by side, and what may not be shown in one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from slant.collector.designs.proposed_study import toml_text
from slant.collector.designs.proposed_table import MISSING, AnswerTable

_TASKS = "task task_id task_no choice_task choice_set contest contest_no pair_id set"
_PLACES = "place position profile profile_no profile_id alternative alt option_no concept"
_MOST_WHOLE = 0.9
"""Share of tasks that must be whole: of a file that was cut, one is not."""
_EXPECTED_ONCE = 12.0
"""How often a pair of levels is expected in the data, if it may be forbidden because it is never there."""
_MOST_FORBIDDEN = 40


def tasks_of(table: AnswerTable) -> tuple[str, str, int]:
    """Return the columns of a task and of a profile's place in it, and how many profiles a task has; 1 if none."""
    task, place = table.named(_TASKS), table.named(_PLACES)
    if task is None or place is None or table.person is None:
        return "", "", 1
    n = len(table.levels(place))
    tasks = Counter(zip(table.columns[table.person], table.columns[task], strict=True))
    is_numbered = set(table.levels(place)) == {str(number) for number in range(1, n + 1)}
    is_whole = 1 < n <= 10 and sum(count == n for count in tasks.values()) > _MOST_WHOLE * len(tasks)
    return (task, place, n) if is_whole and is_numbered else ("", "", 1)


def is_choice_of_one(table: AnswerTable, n_profiles: int, values: Sequence[str]) -> bool:
    """Return True if of the profiles of each task one has 1, and all others 0."""
    if not {v for v in values if v.lower() not in MISSING} <= {"0", "1", "0.0", "1.0"}:
        return False
    task, _, _ = tasks_of(table)
    tasks = zip(table.columns[table.person or ""], table.columns[task], strict=True)
    chosen = Counter(each for each, value in zip(tasks, values, strict=True) if value.startswith("1"))
    answered = sum(value.lower() not in MISSING for value in values)
    return set(chosen.values()) == {1} and len(chosen) * n_profiles > _MOST_WHOLE * answered


def crossing_of(table: AnswerTable, factors: Collection[str], n_profiles: int, named: Mapping[str, str]) -> list[str]:
    """Return how tasks are drawn: profiles, and pairs of levels that the file never shows together."""
    if n_profiles == 1:
        return []
    n_tasks = len(table.columns[next(iter(table.columns))]) // n_profiles
    lines = ["", "[profiles]", f"count = {n_profiles}", "", "[crossing]", 'takes = "random"']
    lines.append(f"n = {min(n_tasks, 200)}                             # tasks of each model")
    never = _never_together(table, factors)
    if never:
        pairs = ",\n".join(
            f"  {{ {named[a]} = {toml_text(one)}, {named[b]} = {toml_text(other)} }}" for a, one, b, other in never
        )
        lines += ["# Levels that never come together in the file, though chance alone would have shown them:"]
        lines += [f"forbidden = [\n{pairs},\n]"]
    return lines


def _never_together(table: AnswerTable, factors: Collection[str]) -> list[tuple[str, str, str, str]]:
    """Return pairs of levels that are never in one row, though many are expected by how frequent each is."""
    counts = {factor: Counter(table.columns[factor]) for factor in factors}
    never = []
    for a, b in combinations(factors, 2):
        seen = set(zip(table.columns[a], table.columns[b], strict=True))
        expected = {
            (one, other): m * n / table.n_rows for one, m in counts[a].items() for other, n in counts[b].items()
        }
        never += [
            (a, *pair[:1], b, *pair[1:]) for pair, n in expected.items() if n >= _EXPECTED_ONCE and pair not in seen
        ]
    return never if len(never) <= _MOST_FORBIDDEN else []
