"""Propose a forced-choice study for answers that were collected elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from slant.collector.designs.proposed_study import (
    AnsweredCell,
    AnsweredCells,
    ProposedStudy,
    csv_text,
    ids_of,
    toml_text,
    two_conditions,
    values_of,
)
from slant.collector.designs.wordings import same_word
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded

_SEPARATORS = (" + ", " & ", " / ", "+", "/", "&", " and ", " or ", ", ")
_TEXT = "These answers were collected elsewhere.\nA: {option_a}\nB: {option_b}\nWord: {word}"


def proposed_study(cells: AnsweredCells) -> ProposedStudy:
    """Propose each test with its words by group, and the two pairs of groups that are its options in each
    condition."""
    if any(not (cell.option_a and cell.option_b) for cell in cells) or not cells:
        raise StudyError("each row has the texts that were A and B, in two columns, and these files have no such")
    conditions = two_conditions(cells)
    if not values_of(cells, "group"):
        raise StudyError("a column says which group each word belongs to, and none was found")
    tests = ids_of(values_of(cells, "test") or ["test"], "test")
    condition_ids = ids_of(conditions, "condition")
    separator = _separator(text for cell in cells for text in (cell.option_a, cell.option_b))
    stimuli: list[tuple[str, str, str]] = []
    pairs: list[tuple[str, str, str, str]] = []
    remarks: list[str] = []
    for name, test in tests.items():
        of_test = [cell for cell in cells if cell.test in ("", name)]
        words = {(cell.group, same_word(cell.item)): cell.item for cell in of_test}
        groups = list(dict.fromkeys(group for group, _ in words))
        stimuli += [(test, group, word) for (group, _), word in words.items()]
        for condition in conditions:
            bound = _pairs([cell for cell in of_test if cell.condition == condition], separator, groups)
            pairs += [(test, condition_ids[condition], first, second) for first, second in bound]
        remarks.append(f"{name}: {len(words)} words of {', '.join(groups)}")
    congruent, incongruent = (condition_ids[condition] for condition in conditions)
    numbers = [int(float(value)) for value in values_of(cells, "wording")] or [1]
    wordings = sorted({number + (0 in numbers) for number in numbers})
    return ProposedStudy(
        {
            "study.toml": _toml(congruent, incongruent, separator),
            "tests.csv": csv_text(("test", "label"), [(test, name) for name, test in tests.items()]),
            "stimuli.csv": csv_text(("test", "group", "word"), stimuli),
            "pairs.csv": csv_text(("test", "condition", "first_group", "second_group"), pairs),
            "wordings.csv": csv_text(("wording", "text"), [(str(number), _TEXT) for number in wordings]),
        },
        (f"{conditions[0]} is the congruent condition, {conditions[1]} the incongruent one", *remarks),
        "consistency",
    )


def _separator(texts: Iterable[str]) -> str:
    """Return what separates the two groups of all options; StudyError if they are not pairs."""
    options = set(texts)
    for separator in _SEPARATORS:
        if all(len(text.split(separator)) == 2 for text in options):
            return separator
    raise StudyError(f'each option is a pair of groups, as in "Tea + Calm", and "{min(options)}" is none')


def _pairs(cells: Sequence[AnsweredCell], separator: str, groups: Sequence[str]) -> list[tuple[str, str]]:
    """Return the two pairs of a condition, with its groups spelled as in the words' column."""
    spelled = {folded(group): group for group in groups}
    pairs: dict[tuple[str, ...], tuple[str, str]] = {}
    for text in (text for cell in cells for text in (cell.option_a, cell.option_b)):
        first, second = (re.sub(r"\s+", " ", part).strip() for part in text.split(separator))
        if folded(first) not in spelled or folded(second) not in spelled:
            known = ", ".join(groups)
            raise StudyError(f'options are pairs of the groups of its words ({known}), and "{text}" is none')
        bound = (spelled[folded(first)], spelled[folded(second)])
        pairs.setdefault(tuple(sorted(bound)), bound)
    if len(pairs) != 2:
        raise StudyError(f"a test has two options in a condition, and there are {len(pairs)}")
    return list(pairs.values())


def _toml(congruent: str, incongruent: str, separator: str) -> str:
    levels = f"levels = {{ condition = [{toml_text(congruent)}, {toml_text(incongruent)}] }}"
    return f"""\
conditions = [{toml_text(congruent)}, {toml_text(incongruent)}]  # the congruent one first
tests = "tests.csv"                   # test, label
stimuli = "stimuli.csv"               # test, group, word
pairs = "pairs.csv"                   # test, condition, first_group, second_group

[prompt]
wordings = "wordings.csv"             # their texts are not in the files: write them there before you ask any model
pair_separator = {toml_text(separator)}

# What `analyze --fit NAME` does; `collect studies new NAME --design forced_choice` writes a study with more of them.
[fits.consistency]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_consistent ~ condition * model * test + (1 | item)"
settings = {{ family = "binomial" }}
{levels}

[fits.compliance]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_valid ~ condition * model * test + (1 | item)"
settings = {{ family = "binomial" }}
{levels}
"""
