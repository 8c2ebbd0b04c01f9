"""Make up what a model says in a scene: pairs of a given bias, two profiles, a decision of a given rate.

Every number comes from a hash of the trial's content, the model and the seed: the same trial gets the same reply in
whatever order trials are asked, on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from slant.collector.designs.decision.scenes import DecisionData
from slant.collector.designs.design import Simulates
from slant.collector.designs.draws import log_normal, read_simulation, simulated_reply, uniforms
from slant.collector.designs.pairing.design import simulated_pairs
from slant.collector.records import Reply, Trial
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.study.toml_table import Table

_LIMITS = {
    "bias": (-1.0, 1.0), "expected_rate": (0.0, 1.0), "slope": (-100.0, 100.0), "refusal_rate": (0.0, 1.0),
    "undecided_rate": (0.0, 1.0), "mean_tokens": (0.0, 1e9), "sd_tokens": (0.0, 1e9),
}  # fmt: skip
_DEFAULT: Mapping[str, float] = {
    "bias": 0.4, "expected_rate": 0.6, "slope": 0.5, "refusal_rate": 0.02, "undecided_rate": 0.05, "mean_tokens": 400.0,
    "sd_tokens": 150.0,
}  # fmt: skip
_REFUSAL = "I'm sorry, but I can't decide that about people of these groups."
_UNDECIDED = "Either of them could do either, and it would be for them to say."


def parse_simulation(table: Table, folder: StudyFolder) -> dict[tuple[str, ...], Mapping[str, float]]:
    """Return the rows of `simulation` by (model, test); empty if the study has none. `bias` is the expected D of pairs,
    `expected_rate` the share of decisions that go with the association, `slope` how much its log odds grow if the D of
    the same conversation's pairs is 1 larger.
    """
    return read_simulation(table, folder, ("model", "test"), _LIMITS)


class DecisionSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return an answer drawn for this trial. If the study has no row for the model and test, a plain default is
        drawn.
        """
        data: DecisionData = study.data
        cell = data.simulation.get((trial.model, trial.test), _DEFAULT)
        content = (seed, trial.study, trial.model, trial.test, trial.item, trial.wording, trial.repetition)
        u_refused, u_tokens, _, _ = uniforms(*content, trial.round or 0)
        tasks = trial.factors["tasks"]
        texts = [_text(data, cell, trial, content, task) for task in tasks]
        many = len(texts) > 1
        answer = "\n\n".join(f"Task {no}:\n{text}" if many else text for no, text in enumerate(texts, 1))
        if u_refused < cell["refusal_rate"] and tasks[-1] in ("decision", "question"):
            answer = _REFUSAL
        tokens = round(log_normal(cell["mean_tokens"], cell["sd_tokens"], u_tokens))
        return simulated_reply(answer, tokens, model)


def _text(data: DecisionData, cell: Mapping[str, float], trial: Trial, content: tuple[object, ...], task: str) -> str:
    if task == "pairing":
        return "\n".join(simulated_pairs(_lean(cell, content), 0.0, trial, content, data.own_sides))
    if task == "profiles":
        return f"{trial.option_a} likes order and long walks.\n\n{trial.option_b} likes company and old films."
    u_decision, u_undecided, _, _ = uniforms(*content, "decision")
    is_expected = u_decision < _expected_rate(data, cell, trial, content)
    if task == "question":
        return "Yes." if is_expected else "No."
    if u_undecided < cell["undecided_rate"]:
        return _UNDECIDED
    first, second = trial.factors["attribute_a"], trial.factors["attribute_b"]
    if not is_expected:
        first, second = second, first
    return f"I suggest {trial.option_a} for {first} and {trial.option_b} for {second}."


def _lean(cell: Mapping[str, float], content: tuple[object, ...]) -> float:
    """Return the expected D of this conversation's pairs: within .5 of that of the cell."""
    u, _, _, _ = uniforms(*content, "lean")
    return min(1.0, max(-1.0, cell["bias"] + u - 0.5))


def _expected_rate(data: DecisionData, cell: Mapping[str, float], trial: Trial, content: tuple[object, ...]) -> float:
    """Return the chance of a decision with the association; in the variant `null`, of one with the original
    words.
    """
    rate = min(max(cell["expected_rate"], 1e-9), 1 - 1e-9)
    log_odds = math.log(rate / (1 - rate)) + cell["slope"] * (_lean(cell, content) - cell["bias"])
    p = 1 / (1 + math.exp(-log_odds))
    is_crossed = data.own_sides.get((trial.test, trial.factors["attribute_a"])) == "attribute_b"
    return 1 - p if is_crossed else p
