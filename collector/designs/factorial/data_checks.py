"""Check that the parts of a factorial study fit together: what is crossed, and what each prompt shows."""

from __future__ import annotations

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
from slant.collector.designs.wordings import check_placeholders, find_placeholders
from slant.collector.errors import StudyError


def check_data(data: FactorialData, where: str) -> None:
    """Raise StudyError if the parts of the study `where` don't fit together."""
    _check_crossing(data, f"{where}, [crossing]")
    _check_texts(data, where)


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
    for texts in (data.together,) if data.asked == "together" else ():
        for text in texts.values():
            check_placeholders(text, (), (NAMES_OF_JSON,), f'"together" of {where}')


def _check_texts(data: FactorialData, where: str) -> None:
    """Raise StudyError if a text has a placeholder that is none, or a prompt does not show each factor."""
    names = tuple(factor.name for factor in data.factors)
    is_one = data.profiles.count == 1
    for template, text in data.templates.items():
        place = f'the template "{template}" of {where}'
        check_placeholders(text, () if is_one else (PROFILES,), (*names, PROFILES, ATTRIBUTES, QUESTION), place)
        profile = data.profiles.text.get(template, data.profiles.text.get("", ""))
        check_placeholders(profile, (), (*names, ATTRIBUTES), f"text of the profiles of {where}")
        shown = set(find_placeholders(text))
        if not is_one and (inside := [name for name in (*names, ATTRIBUTES) if name in shown]):
            raise StudyError(
                f"{place.capitalize()} has the placeholder {{{inside[0]}}}, but shows {data.profiles.count} profiles.",
                "What is said of each of them belongs into [profiles] text; the template has {profiles}.",
            )
        shown |= find_placeholders(profile) if PROFILES in shown else set()
        earlier: list[str] = []
        for name, question in data.questions.items():
            asked = question.asked(template)
            needed, allowed = (PROFILE,) if question.about else (), (*(names if is_one else ()), *earlier)
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
