"""Recognise columns of answers (by known names, else by their values), and tasks of profiles side by side with what may
not be shown in one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from slant.collector.designs.factorial.proposed_questions import kind_of
from slant.collector.designs.people import TRUE
from slant.collector.designs.proposed_study import MISSING, PERSONS, AnswerTable, number_of, toml_text

_TASKS = (
    "task task_id task_no task_number choice_task choice_set contest contest_no contest_id pair pair_id pair_no set "
    "set_id round trial"
)
_PLACES = (
    "place position profile profile_no profile_id profile_number alternative alt option option_no concept candidate "
    "side"
)
_MOST_WHOLE = 0.9
"""Share of tasks that must be whole: of a file that was cut, one is not."""
_MOST_PROFILES = 10
_EXPECTED_ONCE = 12.0
"""How often a pair of levels is expected in the data, if it may be forbidden because it is never there."""
_MOST_FORBIDDEN = 40
_CHOSEN = re.compile(r"cho[sio]|select|pick|vote|prefer|win|decision|answer|response|accept|admit|support")


@dataclass(frozen=True)
class Tasks:
    """Hold the columns of a task and of a profile's place in it ("" if rows are in order), how many profiles a task
    has (1: there are no tasks), and the columns that mark the one that was chosen."""

    task: str = ""
    place: str = ""
    n_profiles: int = 1
    chosen: tuple[str, ...] = ()

    def mapping(self, table: AnswerTable) -> list[str]:
        """Return the `--map` of these columns; places may be counted from 0."""
        made = [f"task={self.task}"] if self.task != "task" else []
        place = table.from_one(self.place) if self.place else "place"
        return [*made, *([f"place={place}"] if place != "place" else [])]


def tasks_of(table: AnswerTable) -> Tasks:
    """Return the tasks of people who were shown profiles side by side, a row for each profile."""
    if table.person is None:
        return Tasks()
    return _tasks(table, table.person)


def tasks_of_models(table: AnswerTable) -> Tasks:
    """Return the tasks of models, whose rows are the same, with a column of who was asked or in which run."""
    who = table.named(f"{' '.join(PERSONS)} run run_id rep repetition iteration seed")
    return Tasks() if table.model is None else _tasks(table, who or table.model)


def _tasks(table: AnswerTable, person: str) -> Tasks:
    places = [name for name in _PLACES.split() if name in table.columns and name != person]
    for task in dict.fromkeys([*_TASKS.split(), person]):
        if task not in table.columns:
            continue
        rows = list(zip(table.columns[person], table.columns[task], strict=True))
        sizes = Counter(rows).values()
        n, n_whole = Counter(sizes).most_common(1)[0]
        if not 1 < n <= _MOST_PROFILES or n_whole <= _MOST_WHOLE * len(sizes):
            continue
        flags = [name for name in table.columns if table.is_flag(name) and _is_one_of(table.columns[name], rows)]
        chosen = [name for name in flags if _CHOSEN.search(name)] or (flags if len(flags) == 1 else [])
        for place in [name for name in places if name != task and (task != person or chosen)]:
            if _are_places(table, place, n) and len(set(zip(rows, table.columns[place], strict=True))) == table.n_rows:
                return Tasks(task, place, n, tuple(chosen))
        if chosen and task != person:
            return Tasks(task, "", n, tuple(chosen))
    return Tasks()


def _are_places(table: AnswerTable, name: str, n: int) -> bool:
    levels = set(table.levels(name))
    counted = [set(map(str, range(first, first + n))) for first in (0, 1)]
    return levels in counted or (len(levels) == n and not any(map(str.isdecimal, levels)))


def _is_one_of(values: Sequence[str], tasks: Sequence[tuple[str, str]]) -> bool:
    """Return True if of the profiles of each task one is marked; of some nothing may be said."""
    marked: Counter[tuple[str, str]] = Counter()
    for task, value in zip(tasks, values, strict=True):
        if value.lower() not in MISSING:
            marked[task] += value.lower() in TRUE
    return sum(n == 1 for n in marked.values()) > _MOST_WHOLE * len(marked) > 0


def crossing_of(table: AnswerTable, factors: Collection[str], n_profiles: int, named: Mapping[str, str]) -> list[str]:
    """Return the TOML lines on how tasks are drawn: profiles, and pairs of levels that the file never shows
    together."""
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


ANSWERS = (
    "answer", "rating", "rating_score", "likert", "score", "scored", "judgment", "judgement", "response",
    "answer_text", "model_answer", "reply", "output", "completion", "chosen", "choice", "support", "hire", "hired",
    "invite", "invited", "callback", "recommend", "recommended", "recommendation", "decision", "likelihood",
    "suitability", "salary", "amount", "estimate", "agreement", "verdict", "ruling", "vote", "opinion", "stance",
    "grade", "selected", "selection", "preference", "prediction",
)  # fmt: skip
_ASKED = re.compile(r"(?:q|question|frage|pregunta|survey|dv|outcome)[_ ]?\d{0,3}[a-z]?(?:_\d{1,2})?")
"""Match columns as programs for surveys name what was answered: q1, q3_2."""
_NEARLY_ALL = 0.9
_SHOWN = re.compile(
    r"(?:^|_)(?:input|inputs|prompt|given|shown|true|truth|gold|expected|target|reference|baseline|human|correct)(?:_|$)"
)
"""Match names of what was put into a prompt, or is right: no answers."""
_AMOUNT = re.compile(r"\W{0,3}(?:[A-Z]{3}\s?)?[$€£]?\s?[-–]?\d")
_LONGEST_AMOUNT = 40


def answers_in(table: AnswerTable, free: Sequence[str]) -> list[str]:
    """Return the columns of answers: those that somebody said, else those of known names, else numbers and yes or no
    whose values are not as frequent as a design has them."""
    if table.answers:
        return list(table.answers)
    if named := [name for name in free if name in ANSWERS and table.levels(name)]:
        long = [name for name in named if kind_of(table.columns[name]) == "text"]
        short = [name for name in named if name not in long]
        given = [name for name in short if not _is_input(table, name, free)]
        return given or short or long[:1]
    if asked := [name for name in free if _ASKED.fullmatch(name) and len(table.levels(name)) > 1]:
        return asked
    first = next((name for name in free if table.can_be_factor(name) and table.numbers(name) is None), None)
    if first is None:
        return []
    found = [
        name
        for name in free
        if name != first
        and not (table.is_counter(name) or _SHOWN.search(name))
        and (table.numbers(name) is not None or table.is_flag(name) or _are_amounts(table, name))
        and len(table.levels(name)) > 1
        and not table.says(first, name)
        and (not table.is_crossed(name) or _is_measured(table, name))
    ]
    return [name for name in found if not table.is_measure(name)] or _words(table, free) or found


def _are_amounts(table: AnswerTable, name: str) -> bool:
    """Return True for numbers with units or words around them ($95k, 10 mg)."""
    levels = table.levels(name)
    begun = sum(_AMOUNT.match(level) is not None and len(level) <= _LONGEST_AMOUNT for level in levels)
    return begun > _NEARLY_ALL * len(levels) and kind_of(table.columns[name]) == "number"


def _words(table: AnswerTable, free: Sequence[str]) -> list[str]:
    """Return the one column of a few words that no design has as frequent as they are, next to factors that are
    crossed."""
    texts = [name for name in free if table.can_be_factor(name) and not table.is_counter(name)]
    odd = [
        name
        for name in texts
        if not table.is_crossed(name) and not any(table.says(other, name) for other in texts if other != name)
    ]
    return odd if len(odd) == 1 < len(texts) and kind_of(table.columns[odd[0]]) in ("choice", "yes_no") else []


def _is_measured(table: AnswerTable, name: str) -> bool:
    """Return True for numbers of which nearly each is another one, in no order: neither levels nor numbers of rows."""
    values = [value for value in table.columns[name] if value]
    numbers = list(map(number_of, values)) if table.numbers(name) else []
    return len(set(numbers)) > _NEARLY_ALL * len(values) and numbers not in (sorted(numbers), sorted(numbers)[::-1])


def _is_input(table: AnswerTable, name: str, free: Sequence[str]) -> bool:
    """Return True for a column called as answers are that says what was shown: right answers, or what another column
    says in all rows (a score of each candidate, put into the prompt)."""
    if _SHOWN.search(name):
        return True
    says = (other for other in free if other != name and other not in ANSWERS and table.can_be_factor(other))
    return any(table.says(other, name) for other in says)
