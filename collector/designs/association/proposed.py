"""Propose an association study for answers that were collected elsewhere."""

from __future__ import annotations

from collections import Counter

from slant.collector.designs.proposed_study import (
    AnsweredCells,
    ProposedStudy,
    ids_of,
    labels_of,
    toml_text,
    two_conditions,
    values_of,
)
from slant.collector.designs.wordings import same_word
from slant.collector.errors import StudyError
from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.spelling import bare_label, folded
from slant.collector.system.files import csv_text
from slant.collector.terminal import count_text

_TEXT = 'These answers were collected elsewhere. Word: "{word}". Labels: {category_1}, {category_2}.'
_FRAME = (
    "Put {group_a_in_rule} with {category_1}, as in {group_a_words}, and {group_b_in_rule} with {category_2}, as in "
    "{group_b_words}.\n\n{wording}"
)


def proposed_study(cells: AnsweredCells) -> ProposedStudy:
    """Propose each test. It has two groups of words, the two labels of its answers, both conditions and as many
    wordings as the files number. The group of a word is in a column, or inferred from its most frequent label in the
    first condition.
    """
    conditions = two_conditions(cells)
    tests = ids_of(values_of(cells, "test") or ["test"], "test")
    condition_ids = ids_of(conditions, "condition")
    sides: dict[str, Sides] = {}
    remarks: list[str] = []
    for test in tests:
        of_test = {cell: count for cell, count in cells.items() if cell.test in ("", test)}
        sides[test] = _sides(of_test, conditions, test)
    usual, crossed = condition_ids[conditions[0]], condition_ids[conditions[1]]
    remarks.append(f"{conditions[0]} is the reference condition, {conditions[1]} is compared with it")
    for test, (groups, labels, is_told) in sides.items():
        first, second = groups
        how = "the label that each gets most often in the first condition" if is_told else "the column group"
        remarks.append(
            f"{test}: {first} ({_some(groups[first])}) and {second} ({_some(groups[second])}), by {how}; "
            f"usually {labels[0]} goes to the former, {labels[1]} to the latter"
        )
    numbers = [int(float(value)) for value in values_of(cells, "wording")] or [1]
    added = 1 if 0 in numbers else 0
    wordings = sorted({number + added for number in numbers})
    names = [(tests[test], *groups, *labels, *groups, *labels) for test, (groups, labels, _) in sides.items()]
    return ProposedStudy(
        {
            "study.toml": _toml(usual, crossed, has_wordings=len(wordings) > 1),
            "tests.csv": csv_text(("test", "label"), [(tests[test], test) for test in tests]),
            "stimuli.csv": csv_text(("test", "side", "group", "word"), _words(sides, tests)),
            "names.csv": csv_text(_NAMES, names),
            "wordings.csv": csv_text(("wording", "text"), [(str(number), _TEXT) for number in wordings]),
        },
        tuple(remarks),
        "effect_size",
    )


Sides = tuple[dict[str, list[str]], tuple[str, str], bool]
"""Return words by group, each group's label in the first condition, and whether groups were inferred from labels."""

_NAMES = (
    "test", "group_a_named", "group_b_named", "attribute_a_named", "attribute_b_named", "group_a_in_rule",
    "group_b_in_rule", "label_a", "label_b",
)  # fmt: skip


def _sides(cells: AnsweredCells, conditions: tuple[str, str], test: str) -> Sides:
    labels = labels_of(cells)
    if labels is None:
        raise StudyError(f"its answers are one of two labels, and those of {test} are not")
    if all(read_choice(label, YES_NO).value for label in labels):
        raise StudyError(f"its answers are labels that words are put with, and those of {test} are yes and no")
    by_word: dict[str, Counter[str]] = {}
    by_group: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for cell, count in cells.items():
        if not cell.item:
            continue
        item = names.setdefault(same_word(cell.item), cell.item)
        if item not in by_group.setdefault(cell.group, []):
            by_group[cell.group].append(item)
        bare = bare_label(cell.answer)
        for label in labels:
            if bare == bare_label(label):
                sign = 1 if cell.condition == conditions[0] else -1
                by_word.setdefault(item, Counter())[label] += sign * count
    if len(by_group) == 2 and "" not in by_group:
        words, is_told = by_group, False
    else:
        words = {label: [] for label in labels}
        for item in names.values():
            got = by_word.get(item, Counter())
            words[max(labels, key=lambda label: (got[label], -got[_other(labels, label)]))].append(item)
        words, is_told = {f"words of {label}": items for label, items in words.items()}, True
    if not all(words.values()) or len(words) != 2:
        raise StudyError(f"it has two groups of words, and {test} has all its words in one")
    first, second = words
    share = Counter({label: sum(by_word.get(item, Counter())[label] for item in words[first]) for label in labels})
    of_second = Counter({label: sum(by_word.get(item, Counter())[label] for item in words[second]) for label in labels})
    usual = max(labels, key=lambda label: share[label] - of_second[label])
    if twice := {same_word(item) for item in words[first]} & {same_word(item) for item in words[second]}:
        raise StudyError(f"a word belongs to one group of a test, and {sorted(twice)[0]} is in both of {test}")
    return words, (usual, _other(labels, usual)), is_told


def _some(words: list[str]) -> str:
    return f"{count_text(len(words), 'word')}: {', '.join(words[:3])}{' …' if len(words) > 3 else ''}"


def _other(labels: tuple[str, str], label: str) -> str:
    return labels[1] if label == labels[0] else labels[0]


def _words(sides: dict[str, Sides], tests: dict[str, str]) -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    for test, (groups, labels, _) in sides.items():
        asked = {same_word(word) for words in groups.values() for word in words}
        for side, (group, words) in zip(("group_a", "group_b"), groups.items(), strict=True):
            rows += [(tests[test], side, group, word) for word in words]
        for side, label in zip(("attribute_a", "attribute_b"), labels, strict=True):
            rows.append((tests[test], side, label, label if folded(label) not in asked else f"{label} (label)"))
    return rows


def _toml(usual: str, crossed: str, *, has_wordings: bool) -> str:
    random = "(1 + condition || item)" + (" + (1 + condition || wording)" if has_wordings else "")
    levels = f"levels = {{ condition = [{toml_text(usual)}, {toml_text(crossed)}] }}"
    return f"""\
conditions = [{toml_text(usual)}, {toml_text(crossed)}]  # the usual one first: in it, group_a goes to label_a
tests = "tests.csv"                   # test, label
stimuli = "stimuli.csv"               # test, side (group_a, group_b, attribute_a, attribute_b), group, word

[prompt]
wordings = "wordings.csv"             # their texts are not in the files: write them there before you ask any model
names = "names.csv"                   # by test: what the sides are called, and the two labels
option_order = "balanced"

[prompt.frames.plain]
template = {toml_text(_FRAME)}

# What `analyze --fit NAME` does; `collect studies new NAME --design association` writes a study with more of them.
[fits.effect_size]
view = "association_trials"
outcome = "tokens"
contrast = "condition"
by = ["model", "test"]
{levels}

[fits.lme4]
view = "association_trials"
formula = "tokens ~ condition + {random}"
by = ["model", "test"]
{levels}
"""
