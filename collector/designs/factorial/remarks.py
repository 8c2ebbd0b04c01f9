"""Check that the parts of a factorial study fit together, and say what `collect studies validate` says of one: cells,
expected balance, power, three prompts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from statistics import NormalDist
from typing import Any

from slant.collector.designs.asks import Question
from slant.collector.designs.design import Design
from slant.collector.designs.factorial.cells import MOST_CELLS
from slant.collector.designs.factorial.parts import (
    ATTRIBUTES,
    NAMES_OF_JSON,
    PROFILE,
    PROFILES,
    QUESTION,
    FactorialData,
)
from slant.collector.designs.factorial.questions import ANSWER, REASONING
from slant.collector.designs.factorial.tasks import Tasks, expected_shares, of_turn, units_of
from slant.collector.designs.factorial.texts import system_text, user_text
from slant.collector.designs.placeholders import check_placeholders, find_placeholders
from slant.collector.errors import StudyError
from slant.collector.study.records import StudyFile
from slant.collector.study.toml_table import shortened

_ONE_TEMPLATE = (
    "There is one template: what is found may be so of this wording alone. With several, [templates] has one a line, "
    "and fits can take (1 | template)."
)
_MOST_LEVELS = 12
_N_PROMPTS = 3
_MOST_COMPARED = 50_000


def remarks_on(study: StudyFile, design: Design) -> list[str]:
    data: FactorialData = study.data
    _check_prompts(study)
    doubts = [_ONE_TEMPLATE] if len(data.templates) == 1 else []
    return [_counted(data), *_balance(data), *_power(data), *doubts, *_prompts(study)]


def _check_prompts(study: StudyFile) -> None:
    """Raise StudyError if two cells differ in a factor and send the same prompt: whatever differs between their answers
    is then chance. Compares at most 50,000 prompts, evenly spaced ones of a larger study.
    """
    data: FactorialData = study.data
    tasks, equal = Tasks(data, study.seed), _equal_values(data)
    sent: dict[tuple[object, ...], tuple[object, Question]] = {}
    for place in range(0, len(tasks), max(1, len(tasks) // _MOST_COMPARED)):
        task = tasks[place]
        shown = task.factors
        names = shown["names"] * shown["n_profiles"]
        levels = zip(names, shown["levels"], strict=False)
        different = tuple(level for name, level in levels if level not in equal.get(name, ()))
        cell = (different, shown["template"], shown["persona"])
        prompt = (task.test, *shown["directions"], system_text(data, shown), user_text(data, shown))
        other_cell, other = sent.setdefault(tuple(map(hash, prompt)), (cell, task))
        if other_cell != cell:
            raise StudyError(
                f'Two cells of {study.path.name} send the same prompt: "{_cell(other)}" and "{_cell(task)}".',
                "Show what differs. If the two are the same on purpose (a control), declare their levels in the table "
                'of the factor: equal = ["a", "b"]',
            )


def _equal_values(data: FactorialData) -> dict[str, set[str]]:
    """Return the values of levels that may send the same text, by attribute."""
    equal: dict[str, set[str]] = {}
    for factor in data.factors:
        for number, level in enumerate(factor.levels):
            for name, value in zip(factor.names, factor.values(number), strict=True):
                equal.setdefault(name, set()).update([value] if level.name in factor.equal else [])
    return equal


def _cell(task: Question) -> str:
    parts = (*task.factors["levels"], task.factors["template"], task.factors["persona"])
    return shortened(", ".join(filter(None, parts)), 200)


def _counted(data: FactorialData) -> str:
    factors = " × ".join(f"{len(factor.levels_of(factor.name))} {factor.name}" for factor in data.factors)
    full = math.prod(len(factor.levels) for factor in data.factors)
    left_out = f" - {full - data.cells.n:,} forbidden" if full > data.cells.n else ""
    taken = "all of them" if data.takes == "all" else f"{data.n:,} taken, {data.takes}"
    if data.profiles.count > 1:
        taken = f"{data.n:,} tasks with {data.profiles.count} profiles each, {data.takes}"
    crossed = [f"{len(data.templates)} templates" if len(data.templates) > 1 else ""]
    crossed += [f"{len(data.personas.levels)} personas" if data.has_personas else ""]
    crossed += [f"{len(data.questions)} questions {data.asked.replace('_', ' ')}" if len(data.questions) > 1 else ""]
    by = "".join(f" × {part}" for part in crossed if part)
    return f"Cells: {factors}{left_out} = {data.cells.n:,}; {taken}{by}."


def _shown_shares(data: FactorialData) -> dict[str, dict[str, float]]:
    shares = expected_shares(data)
    return {name: {level: share for level, share in of.items() if level} for name, of in shares.items()}


def _balance(data: FactorialData) -> Iterator[str]:
    """Yield the share of each level under the design, of factors whose levels are not all as frequent."""
    even = []
    for name, shares in _shown_shares(data).items():
        values = list(shares.values())
        if len(values) < 2:
            continue
        if max(values) - min(values) < 1e-6:
            even.append(f"{name} 1/{len(values)}")
            continue
        listed = ", ".join(f"{level} {share:.3f}" for level, share in islice(shares.items(), _MOST_LEVELS))
        yield f"Expected shares of {name}: {listed}{' …' if len(values) > _MOST_LEVELS else ''}."
    if even:
        yield f"Each level of a factor is as frequent as the others: {', '.join(even)}."


def _power(data: FactorialData) -> Iterator[str]:
    """Yield the smallest difference between two levels of each factor that one model's answers to a question find.

    Cohen (1988), chapter 2, by the normal distribution; of answers that depend on each other it is larger.
    """
    n_directions = max(len(unit.directions) for unit in units_of(data))
    n = data.n_tasks * len(data.templates) * len(data.personas.levels) * n_directions * data.profiles.count
    wanted = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    found = []
    for name, shares in _shown_shares(data).items():
        rarest = sorted(share for share in shares.values() if share > 0)[:2]
        if len(rarest) == 2 and len(shares) <= _MOST_LEVELS:
            found.append(f"{name} {wanted * math.sqrt(sum(1 / (n * share) for share in rarest)):.2f}")
    if found:
        yield (
            "Smallest detectable difference between two levels, for one model (80 % power, two-sided α = .05), in "
            f"standard deviations: {', '.join(found)}. If answers are correlated (several about the same name), only "
            "larger differences can be detected. For proportions near one half, 0.1 is 5 percentage points."
        )


def _prompts(study: StudyFile) -> Iterator[str]:
    tasks = Tasks(study.data, study.seed)
    places = dict.fromkeys((0, len(tasks) // 2, len(tasks) - 1))
    for number, place in enumerate(list(places)[:_N_PROMPTS], 1):
        shown = tasks[place].factors
        turns = len(shown["questions"]) if study.data.asked == "in_turns" else 0
        texts = [_as_sent(study.data, of_turn(shown, turn), turn) for turn in range(1, turns + 1)]
        head = f"--- prompt {number} of {len(tasks):,} (collect prompts shows all)"
        yield "\n".join([head, *(texts or [_as_sent(study.data, shown)])])


def _as_sent(data: FactorialData, shown: Mapping[str, Any], turn: int = 1) -> str:
    """Return a prompt, or a later turn of one under its question's name; the earlier answers that it shows are not
    known yet."""
    is_fresh = turn > 1 and data.is_fresh(shown)
    system = system_text(data, shown) if turn == 1 or is_fresh else ""
    head = f"--- then{' afresh' if is_fresh else ''}: {shown['questions'][0]}\n" if turn > 1 else ""
    said = f"[system]\n{system}\n\n[user]\n" if system else ""
    return f"{head}{said}{user_text(data, shown, {} if turn > 1 else None)}"


def check_data(data: FactorialData, where: str) -> None:
    """Raise StudyError if the parts of the study `where` don't fit together."""
    _check_crossing(data, f"{where}, [crossing]")
    names = tuple(factor.name for factor in data.factors)
    known = tuple(name for factor in data.factors for name in factor.names)
    is_one = data.profiles.count == 1
    for template, text in data.templates.items():
        place = f'the template "{template}" of {where}'
        check_placeholders(text, () if is_one else (PROFILES,), (*known, PROFILES, ATTRIBUTES, QUESTION), place)
        profile = data.profiles.text.get(template, data.profiles.text.get("", ""))
        check_placeholders(profile, (), (*known, ATTRIBUTES), f"text of the profiles of {where}")
        shown = set(find_placeholders(text))
        if not is_one and (inside := [name for name in (*known, ATTRIBUTES) if name in shown]):
            raise StudyError(
                f"{place.capitalize()} has the placeholder {{{inside[0]}}}, but shows {data.profiles.count} profiles.",
                "What is said of each of them belongs in [profiles] text; the template has {profiles}.",
            )
        shown |= find_placeholders(profile) if PROFILES in shown else set()
        earlier: list[str] = []
        for name, question in data.questions.items():
            asked = question.asked(template)
            needed, allowed = (PROFILE,) if question.about else (), (*(known if is_one else ()), *earlier)
            check_placeholders(asked, needed, allowed, f'the question "{name}" of {where}')
            in_prompt = shown | (set(find_placeholders(asked)) if data.asked == "apart" else _in_all(data, template))
            in_prompt = _shown_through(data, in_prompt)
            earlier += [f"{what}.{name}" for what in (ANSWER, REASONING)]
            lacking = [n for n in names if n not in in_prompt] if ATTRIBUTES not in in_prompt else []
            if lacking:
                raise StudyError(
                    f'The factor "{lacking[0]}" is not used in {place}: prompts that differ in it would be the same.',
                    f"Put {{{lacking[0]}}} (or {{{ATTRIBUTES}}}, for all of them) into the text, or take it out of "
                    "[factors].",
                )


def _check_crossing(data: FactorialData, where: str) -> None:
    if data.takes == "all" and data.profiles.count > 1:
        raise StudyError(
            f"Tasks with {data.profiles.count} profiles can't all be shown, as {where} has it.",
            'Say how many are drawn: takes = "random", n = 200',
        )
    if (data.takes == "all") == bool(data.n) or data.n < 0:
        raise StudyError(
            f'"n" in {where} says how many cells are taken, with takes = "random" or "balanced"; all of them need none.'
        )
    one = data.profiles.count == 1
    if data.takes == "random" and one and data.n > data.cells.n:
        raise StudyError(
            f"{where} takes {data.n:,} cells at random, but there are {data.cells.n:,}.",
            'Take all of them, takes = "all", and ask each several times: collect --repetitions 3',
        )
    if data.profiles.repeated and not (data.profiles.count == 2 and 0 < data.profiles.repeated <= data.n):
        raise StudyError(f'"repeated" shows up to n tasks of 2 profiles again, sides swapped ({where}, [profiles]).')
    if not one and data.cells.n < data.profiles.count:
        raise StudyError(f"{where} shows {data.profiles.count} different profiles, but there are {data.cells.n} cells.")
    planned = data.n_tasks * len(data.templates) * len(data.personas.levels) * len(data.questions)
    if planned > MOST_CELLS:
        raise StudyError(
            f"{where} has {planned:,} cells to ask (combinations of levels × templates × personas × questions); "
            f"at most {MOST_CELLS:,} can be.",
            'Take some of them: takes = "balanced", n = 500',
        )
    if data.asked != "apart" and len(data.questions) < 2:
        raise StudyError(f'{where} asks questions "{data.asked}", but there is only one question.')
    if data.asked != "together":
        return
    for text in data.together.values():
        check_placeholders(text, (), (NAMES_OF_JSON,), f'"together" of {where}')
    if own := [question.name for question in data.questions.values() if question.how is not None]:
        raise StudyError(
            f'The words of "{own[0]}" for how to answer it (answer) are not sent: all questions are asked together.',
            f'Words for all of them are "together" in {where}.',
        )


def _shown_through(data: FactorialData, names: set[str]) -> set[str]:
    """Return these placeholders, with those of the levels of factors among them and with edits of their documents."""
    refers = data.fillers
    edits = {factor.edits.of: factor.name for factor in data.factors if factor.edits is not None}
    found: set[str] = set()
    while left := names - found:
        found |= left
        names = found | {other for name in left for other in refers.get(name, ())}
        names |= {edits[name] for name in names if name in edits}
    return found


def _in_all(data: FactorialData, template: str) -> set[str]:
    """Return the placeholders of all questions; of those in turns only the first is in the first prompt, and a chain
    has several prompts."""
    questions = list(data.questions.values())[: 1 if data.asked == "in_turns" and not data.is_chain else None]
    return {name for question in questions for name in find_placeholders(question.asked(template))}
