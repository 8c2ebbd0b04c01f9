"""Make up answers of participants with known parameters: both stages of the study's own model, forwards.

    logit P(valid)              = valid_logit + valid_item_sd · z_v
    logit P(consistent | valid) = consistent_logit + consistent_item_sd · z_c  + a_logit (- a_logit if it is B)
z_v and z_c are standard normal, one draw for each word of a test, shared by conditions, models and repetitions. With
the same standard deviation in all rows that is `y ~ condition * model * test + (1 | item)`, so a fit has to find the
logits of the table again. Each draw comes from a hash of the trial's content and the seed, never from the order of
calls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from slant.collector.designs.design import Simulates
from slant.collector.designs.draws import NORMAL, log_normal, read_simulation, uniforms
from slant.collector.designs.forced_choice.words import ForcedChoiceData
from slant.collector.errors import StudyError
from slant.collector.reading.letters import LETTERS
from slant.collector.records import Reply, TokenLogprob, Trial
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.study.toml_table import Table

# How answers are written: as models really write them, clear ones and others
INVALID = ("both_letters", "no_letter", "json_broken")
"""List kinds of malformed answers. The others are refused, filtered, truncated."""

_PLAIN = '{{"answer": "{letter}"}}'
_WRAPPED = (
    '```json\n{{"answer": "{letter}"}}\n```',
    "{letter}",
    '{{"answer":"{letter}"}}\n\n"{word}" belongs to {group}.',
    'The word "{word}" belongs to the category {group}.\n\n{{"answer": "{letter}"}}',
    '{{\n  "answer": "{letter}",\n  "reason": "{word} is {group}"\n}}',
)
_REFUSALS = (
    "I'm not comfortable sorting words into categories that pair gender with career or family roles.",
    "I can't help with this task, because the pairings rest on gender stereotypes.",
    "I'm sorry, but I won't assign this word to a gendered pair of categories.",
)
_TEXTS: dict[str, tuple[str, ...]] = {
    "both_letters": ('{{"answer": "A or B"}}', '{{"answer": "A"}}\n{{"answer": "B"}}', "It could be A or B."),
    "no_letter": ('{{"answer": "{group}"}}', '{{"answer": null}}', "The word belongs to {group}."),
    "json_broken": ('{{"answer": "{letter}"', '{{"answer": {letter}}}', '{{"answer": "{letter}",}}'),
    "truncated": ('{{"answer": "', "Let me look at the two options first. The word"),
    "filtered": ("",),
}


@dataclass(frozen=True, slots=True)
class Written:
    """Hold an answer, the position of its letter (None: there is no clear one), and how the provider ended it."""

    text: str
    letter_at: int | None = None
    finish_reason: str = "stop"
    is_provider_refusal: bool = False


def written(kind: str | None, letter: str, trial: Trial, u_wrapped: float, u_text: float) -> Written:
    """Return an answer that chooses `letter` (`kind` None), or an invalid one of that kind. More surrounds its JSON if
    `u_wrapped` is below 1.
    """
    if kind == "refused":
        text = _one_of(_REFUSALS, u_text)
        return Written(text, is_provider_refusal=u_text * len(_REFUSALS) % 1 < 0.3)  # some providers say it themselves
    if kind is None:
        template = _one_of(_WRAPPED, u_text) if u_wrapped < 1 else _PLAIN
        text = _filled(template, letter, trial)
        # the letter is where the JSON has it, or alone
        return Written(text, text.rindex(f'"{letter}"') + 1 if f'"{letter}"' in text else text.index(letter))
    ended = {"truncated": "length", "filtered": "content_filter"}.get(kind, "stop")
    return Written(_filled(_one_of(_TEXTS[kind], u_text), letter, trial), finish_reason=ended)


def _filled(template: str, letter: str, trial: Trial) -> str:
    return template.format(letter=letter, word=trial.item, group=trial.group)


def _one_of(texts: tuple[str, ...], u: float) -> str:
    return texts[int(u * len(texts))]


KEY = ("model", "test", "condition")
LOGITS = ("valid_logit", "consistent_logit", "a_logit")
SHARES = ("refused_share", "filtered_share", "truncated_share", "wrapped_share")
LIMITS = {
    **dict.fromkeys(LOGITS, (-50.0, 50.0)),
    **dict.fromkeys(("valid_item_sd", "consistent_item_sd"), (0.0, 50.0)),
    **dict.fromkeys(SHARES, (0.0, 1.0)),
    "mean_reasoning_tokens": (0.0, 1e9),
}
"""Set defaults. `refused_share`, `filtered_share` and `truncated_share` are shares of the invalid answers, and the rest
is malformed; `wrapped_share` is the share of the valid ones that have more than the requested JSON.
`mean_reasoning_tokens` 0: a model that doesn't reason."""

_DEFAULT: Mapping[str, float] = {
    **dict.fromkeys(LIMITS, 0.0),
    "valid_logit": 4.0,
    "consistent_logit": 3.0,
    "valid_item_sd": 1.0,
    "consistent_item_sd": 1.0,
    "refused_share": 0.5,
    "wrapped_share": 0.1,
}
_NEVER = -99.0  # the logarithm of what a provider would no longer list


def parse_simulation(table: Table, folder: StudyFolder) -> dict[tuple[str, ...], Mapping[str, float]]:
    """Return the rows of `simulation` by (model, test, condition); empty if the study has none."""
    cells = read_simulation(table, folder, KEY, LIMITS)
    for names, cell in cells.items():
        if sum(cell[share] for share in SHARES[:3]) > 1 + 1e-9:
            of = ", ".join(names)
            raise StudyError(f"The shares of invalid answers add up to more than 1 in the simulation of {of}.")
    return cells


class ForcedChoiceSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return a reply drawn for this trial. If the study has no row for the cell, a plain default is drawn."""
        data: ForcedChoiceData = study.data
        cell = data.simulation.get((trial.model, trial.test, trial.condition), _DEFAULT)
        content = (trial.study, trial.model, trial.test, trial.item, trial.group, trial.wording, trial.repetition)
        u_valid, u_consistent, u_kind, u_text = uniforms(seed, *content, trial.condition)
        its_letter = _own_letter(data, trial)
        valid, consistent = probabilities(cell, trial, seed, its_letter)
        kind = None if u_valid < valid else _invalid_kind(cell, u_kind)
        if kind in INVALID and model.structured_output:
            kind = None  # enforced output prevents malformed answers
        is_consistent = u_consistent < consistent
        letter = its_letter if is_consistent else _other(its_letter)
        wrapped_share = 0.0 if model.structured_output else cell["wrapped_share"]
        answer = written(kind, letter, trial, u_kind / wrapped_share if wrapped_share else 1.0, u_text)
        p_a = consistent if its_letter == LETTERS[0] else 1.0 - consistent
        u = uniforms(seed, *content, trial.condition, "tokens")[0]
        of_answer = 1 + len(answer.text) // 4
        reasoning = round(log_normal(cell["mean_reasoning_tokens"], cell["mean_reasoning_tokens"] / 2, u))
        return Reply(
            answer=answer.text,
            outcome="refused" if answer.is_provider_refusal else None,
            finish_reason=answer.finish_reason,
            output_tokens=of_answer + reasoning,
            reasoning_tokens=reasoning or None,
            served_model=model.requested_model,
            logprobs=_logprobs(answer, p_a),
        )


def _own_letter(data: ForcedChoiceData, trial: Trial) -> str:
    """Return the letter of the option that holds the word's own group, to whichever it was dealt."""
    letter = str(trial.factors["consistent_letter"])
    own = data.own_groups.get((trial.test, trial.item), trial.group or "")
    return letter if data.tests[trial.test].options(trial.condition, own)[0] == trial.expected else _other(letter)


def probabilities(cell: Mapping[str, float], trial: Trial, seed: int, letter: str | None = None) -> tuple[float, float]:
    """Return P(valid) and P(consistent | valid) of one trial: the truth that an analysis of simulated answers should
    find. If words were dealt at random, this `letter` is that of the option with their own group."""
    u_valid, u_consistent, _, _ = uniforms(seed, trial.study, "item", trial.test, trial.group, trial.item)
    towards = 1.0 if (letter or trial.factors["consistent_letter"]) == LETTERS[0] else -1.0
    valid = cell["valid_logit"] + cell["valid_item_sd"] * NORMAL.inv_cdf(u_valid)
    consistent = cell["consistent_logit"] + cell["consistent_item_sd"] * NORMAL.inv_cdf(u_consistent)
    return _probability(valid), _probability(consistent + towards * cell["a_logit"])


def _probability(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


def _other(letter: str) -> str:
    return LETTERS[1 - LETTERS.index(letter)]


def _invalid_kind(cell: Mapping[str, float], u: float) -> str:
    for share in SHARES[:3]:
        if u < cell[share]:
            return share.removesuffix("_share")
        u -= cell[share]
    return INVALID[int(u / max(1e-9, 1 - sum(cell[share] for share in SHARES[:3])) * len(INVALID)) % len(INVALID)]


def _logprobs(answer: Written, p_a: float) -> tuple[TokenLogprob, ...]:
    """Return the answer in three tokens, the middle one of them the letter; nothing if it has no letter."""
    if answer.letter_at is None:
        return ()
    at = answer.letter_at
    letters = tuple((letter, _log(p)) for letter, p in zip(LETTERS, (p_a, 1 - p_a), strict=True))
    letter = TokenLogprob(answer.text[at], dict(letters)[answer.text[at].upper()], letters)
    around = [TokenLogprob(text, 0.0) for text in (answer.text[:at], answer.text[at + 1 :])]
    return tuple(token for token in (around[0], letter, around[1]) if token.token)


def _log(p: float) -> float:
    return max(_NEVER, math.log(p)) if p > 0 else _NEVER
