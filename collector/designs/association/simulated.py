"""Make up replies whose token counts and refusals follow a table of printed numbers.

Every number comes from a hash of the trial's content, the model and the seed: the same trial gets the same reply in
whatever order trials are asked, on every machine. What a study may not intend, although it is allowed, is remarked on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from slant.collector.designs.association.words import AssociationData
from slant.collector.designs.design import Simulates
from slant.collector.designs.draws import NORMAL, log_normal, read_simulation, uniforms
from slant.collector.designs.wordings import GROUPS
from slant.collector.records import Reply, Trial
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.study.toml_table import Table

COLUMNS = (
    "mean_tokens",
    "sd_tokens",
    "wording_sd",
    "token_step",
    "refusal_rate",
    "refusal_mean_tokens",
    "refusal_sd_tokens",
    "iat_mention_rate",
    "has_reasoning_text",
)
SPREADS = ("wording_effect_sd", "word_sd", "word_effect_sd")
"""List columns that a table may have: standard deviations of the condition's effect over wordings and over words, and
of what each word adds to both conditions."""
_DEFAULT: Mapping[str, float] = {
    **dict.fromkeys((*COLUMNS, *SPREADS), 0.0),
    "mean_tokens": 200.0,
    "sd_tokens": 80.0,
    "has_reasoning_text": 1.0,
}
_REFUSALS = (
    "I'm sorry, but I can't comply with that.",
    "I'm sorry, but I can't help with that.",
    "I cannot complete this task as requested because it promotes harmful stereotypes.",
)


def parse_simulation(table: Table, folder: StudyFolder) -> dict[tuple[str, ...], Mapping[str, float]]:
    """Return the rows of `simulation` by (model, test, condition); empty if the study has none."""
    limits, may = (dict.fromkeys(names, (0.0, 1e9)) for names in (COLUMNS, SPREADS))
    return read_simulation(table, folder, ("model", "test", "condition"), limits, may)


class AssociationSimulates(Simulates):
    def assumed_lengths(self, study: StudyFile, model: StudyModel) -> str:
        lacking = tests_without_rows(study.data, model.model)
        return f"200 tokens an answer are assumed in {', '.join(lacking)}, which have no row there" if lacking else ""

    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return a reply drawn for this trial. If the study has no row for the model and test, a plain default is
        drawn.
        """
        data: AssociationData = study.data
        cell = data.simulation.get((trial.model, trial.test, _own_condition(data, trial)), _DEFAULT)
        content = (trial.study, trial.model, trial.test, trial.item, trial.group, trial.wording, trial.repetition)
        u_refused, u_tokens, u_step, u_text = uniforms(seed, *content, trial.condition)
        if u_refused < cell["refusal_rate"]:
            tokens = log_normal(cell["refusal_mean_tokens"], cell["refusal_sd_tokens"], u_tokens)
            answer = _REFUSALS[int(u_text * len(_REFUSALS))]
        else:
            # the cell's mean, what wording and word add in this model and test, and the trial's own part
            half = -0.5 if trial.condition == data.conditions[0] else 0.5
            z_wording, z_of_wording = _normal(seed, trial.study, trial.model, trial.test, trial.wording)
            z_word, z_of_word = _normal(seed, trial.study, trial.model, trial.test, "word", trial.item)
            mean = cell["mean_tokens"] + cell["wording_sd"] * z_wording + cell["word_sd"] * z_word
            mean += half * (cell["wording_effect_sd"] * z_of_wording + cell["word_effect_sd"] * z_of_word)
            shared = cell["wording_sd"] ** 2 + cell["word_sd"] ** 2
            shared += (cell["wording_effect_sd"] ** 2 + cell["word_effect_sd"] ** 2) / 4
            # Rounding up or down at random to a step adds up to a sixth of its square to the variance.
            own = cell["sd_tokens"] ** 2 - shared - cell["token_step"] ** 2 / 6
            tokens = log_normal(max(mean, 1.0), math.sqrt(max(own, 0.0)), u_tokens)
            answer = trial.expected or ""
        count = _stepped(tokens, cell["token_step"], u_step)
        of_answer = 1 + len(answer) // 5
        is_reasoning = model.measure != "output"
        output = count + of_answer if is_reasoning else max(count, of_answer)
        reasoning = count if is_reasoning else max(count - of_answer, 0)
        text = _reasoning_text(answer, u_text < cell["iat_mention_rate"]) if cell["has_reasoning_text"] else None
        return Reply(
            answer=answer,
            reasoning_text=text,
            finish_reason="stop",
            input_tokens=None,
            output_tokens=output,
            reasoning_tokens=reasoning,
            served_model=model.requested_model,
        )


def _own_condition(data: AssociationData, trial: Trial) -> str:
    """Return the condition to draw from: a word dealt to the other group meets its own association in the other one."""
    own = data.own_sides.get((trial.test, trial.item))
    if own is None or data.tests[trial.test].group_names[own] == trial.group:
        return trial.condition
    return data.conditions[1 - data.conditions.index(trial.condition)]


def _normal(*content: object) -> tuple[float, float]:
    """Return two standard normal numbers that the content decides."""
    first, second, *_ = uniforms(*content)
    return NORMAL.inv_cdf(first), NORMAL.inv_cdf(second)


def _stepped(tokens: float, step: float, u: float) -> int:
    """Return `tokens` as a multiple of `step`, rounded at random so that the mean stays."""
    step = step or 1.0
    low = math.floor(tokens / step)
    return int(step) * (low + (u < tokens / step - low))


def _reasoning_text(answer: str, is_mentioned: bool) -> str:
    mention = " This looks like an Implicit Association Test (IAT)." if is_mentioned else ""
    return f"Simulated reasoning: the word belongs to one of the two groups named above.{mention} So I answer: {answer}"


def remarks_on_simulation(study: StudyFile) -> Iterator[str]:
    """Report rows for simulation that no trial reads, and tests without any: those are simulated by a plain default."""
    data: AssociationData = study.data
    if not data.simulation:
        return
    known = {"test": set(data.tests), "condition": set(data.conditions), "model": {m.model for m in study.models}}
    for place, name in enumerate(("model", "test", "condition")):
        unknown = sorted({cell[place] for cell in data.simulation} - known[name])
        if unknown:
            are = f"the {name} {_listed(unknown)} is" if len(unknown) == 1 else f"the {name}s {_listed(unknown)} are"
            yield f"Rows for simulation that no trial reads: {are} not in the study."
    for model in sorted({cell[0] for cell in data.simulation} & known["model"]):
        lacking = tests_without_rows(data, model)
        if lacking:
            yield (
                f"No rows for simulation: {model} in {', '.join(lacking)}. A simulated model then draws counts around "
                "200 tokens, alike in both conditions."
            )


def tests_without_rows(data: AssociationData, model: str) -> list[str]:
    """Return the tests in which a condition of this model has no row for simulation."""
    return [test for test in data.tests if any((model, test, name) not in data.simulation for name in data.conditions)]


def remarks_on_words(data: AssociationData) -> Iterator[str]:
    """Report labels that contain each other, and groups of a single word."""
    for test in data.tests.values():
        pairs = {(names["label_a"], names["label_b"]) for names in test.names.values()}
        for label_a, label_b in sorted(pairs):
            inner, outer = sorted((label_a, label_b), key=len)
            if inner.casefold() in outer.casefold():
                yield (
                    f'In {test.test} the label "{inner}" is inside "{outer}": check that each is '
                    "read as it was meant (collect view)."
                )
        for side in GROUPS:
            if len(own := test.words[side]) == 1:
                yield (
                    f'In {test.test} the group "{test.group_names[side]}" has one word, "{own[0]}": what is found is '
                    "about that word, and no model over words can be fitted."
                )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
