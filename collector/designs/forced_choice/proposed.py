"""Propose a forced-choice study for answers that were collected elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from slant.collector.designs.labels.spelling import folded
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

_SEPARATORS = (" + ", " & ", " / ", "+", "/", "&", " and ", " or ", ", ")
_TEXT = "These answers were collected elsewhere.\nA: {option_a}\nB: {option_b}\nWord: {word}"


def proposed_study(cells: AnsweredCells) -> ProposedStudy:
    """Propose each domain with its words by category, and the two pairs of categories that are its options in each
    block."""
    if any(not (cell.option_a and cell.option_b) for cell in cells) or not cells:
        raise StudyError("each row has the texts that were A and B, in two columns, and these files have no such")
    blocks = two_conditions(cells)
    if not values_of(cells, "group"):
        raise StudyError("a column says which category each word belongs to, and none was found")
    domains = ids_of(values_of(cells, "test") or ["domain"], "domain")
    block_ids = ids_of(blocks, "block")
    separator = _separator(text for cell in cells for text in (cell.option_a, cell.option_b))
    stimuli: list[tuple[str, str, str]] = []
    pairs: list[tuple[str, str, str, str]] = []
    remarks: list[str] = []
    for name, domain in domains.items():
        of_domain = [cell for cell in cells if cell.test in ("", name)]
        words = {(cell.group, same_word(cell.item)): cell.item for cell in of_domain}
        categories = list(dict.fromkeys(group for group, _ in words))
        stimuli += [(domain, group, word) for (group, _), word in words.items()]
        for block in blocks:
            bound = _pairs([cell for cell in of_domain if cell.condition == block], separator, categories)
            pairs += [(domain, block_ids[block], first, second) for first, second in bound]
        remarks.append(f"{name}: {len(words)} words of {', '.join(categories)}")
    congruent, incongruent = (block_ids[block] for block in blocks)
    numbers = [int(float(value)) for value in values_of(cells, "wording")] or [1]
    wordings = sorted({number + (0 in numbers) for number in numbers})
    return ProposedStudy(
        {
            "study.toml": _toml(congruent, incongruent, separator),
            "domains.csv": csv_text(("domain", "label"), [(domain, name) for name, domain in domains.items()]),
            "stimuli.csv": csv_text(("domain", "category", "word"), stimuli),
            "pairs.csv": csv_text(("domain", "block", "first_category", "second_category"), pairs),
            "wordings.csv": csv_text(("wording", "text"), [(str(number), _TEXT) for number in wordings]),
        },
        (f"{blocks[0]} is the congruent block, {blocks[1]} the incongruent one", *remarks),
        "consistency",
    )


def _separator(texts: Iterable[str]) -> str:
    """Return what separates the two categories of all options; StudyError if they are not pairs."""
    options = set(texts)
    for separator in _SEPARATORS:
        if all(len(text.split(separator)) == 2 for text in options):
            return separator
    raise StudyError(f'each option is a pair of categories, as in "Tea + Calm", and "{min(options)}" is none')


def _pairs(cells: Sequence[AnsweredCell], separator: str, categories: Sequence[str]) -> list[tuple[str, str]]:
    """Return the two pairs of a block, with its categories spelled as in the words' column."""
    spelled = {folded(category): category for category in categories}
    pairs: dict[tuple[str, ...], tuple[str, str]] = {}
    for text in (text for cell in cells for text in (cell.option_a, cell.option_b)):
        first, second = (re.sub(r"\s+", " ", part).strip() for part in text.split(separator))
        if folded(first) not in spelled or folded(second) not in spelled:
            known = ", ".join(categories)
            raise StudyError(f'options are pairs of the categories of its words ({known}), and "{text}" is none')
        bound = (spelled[folded(first)], spelled[folded(second)])
        pairs.setdefault(tuple(sorted(bound)), bound)
    if len(pairs) != 2:
        raise StudyError(f"a domain has two options in a block, and there are {len(pairs)}")
    return list(pairs.values())


def _toml(congruent: str, incongruent: str, separator: str) -> str:
    levels = f"levels = {{ block = [{toml_text(congruent)}, {toml_text(incongruent)}] }}"
    return f"""\
blocks = [{toml_text(congruent)}, {toml_text(incongruent)}]  # the congruent one first
domains = "domains.csv"               # domain, label
stimuli = "stimuli.csv"               # domain, category, word
pairs = "pairs.csv"                   # domain, block, first_category, second_category

[prompt]
wordings = "wordings.csv"             # their texts are not in the files: write them there before you ask any model
pair_separator = {toml_text(separator)}

# What `analyze --fit NAME` does; `collect studies new NAME --design forced_choice` writes a study with more of them.
[fits.consistency]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_consistent ~ block * model * domain + (1 | item)"
settings = {{ family = "binomial" }}
{levels}

[fits.compliance]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_valid ~ block * model * domain + (1 | item)"
settings = {{ family = "binomial" }}
{levels}
"""
