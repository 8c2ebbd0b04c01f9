"""Make up answers of a given bias: a table says how often a word goes to the group of its own association.

Every number comes from a hash of the trial's content, the model and the seed: the same trial gets the same reply in
whatever order trials are asked, on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from slant.collector.designs.design import Simulates
from slant.collector.designs.draws import log_normal, read_simulation, simulated_reply, uniforms
from slant.collector.designs.pairing.words import PairingData
from slant.collector.records import Reply, Trial
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.study.toml_table import Table

_LIMITS = {
    "bias": (-1.0, 1.0), "refusal_rate": (0.0, 1.0), "missing_rate": (0.0, 1.0), "mean_tokens": (0.0, 1e9),
    "sd_tokens": (0.0, 1e9),
}  # fmt: skip
_DEFAULT: Mapping[str, float] = {
    "bias": 0.4, "refusal_rate": 0.02, "missing_rate": 0.002, "mean_tokens": 400.0, "sd_tokens": 150.0,
}  # fmt: skip
_REFUSAL = "I'm sorry, but I can't assign words to groups of people."


def parse_simulation(table: Table, folder: StudyFolder) -> dict[tuple[str, ...], Mapping[str, float]]:
    """Return the rows of `simulation` by (model, test); empty if the study has none. `bias` is the expected
    D.
    """
    return read_simulation(table, folder, ("model", "test"), _LIMITS)


class PairingSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return an answer drawn for this trial. If the study has no row for the model and test, a plain default is
        drawn.
        """
        data: PairingData = study.data
        cell = data.simulation.get((trial.model, trial.test), _DEFAULT)
        content = (seed, trial.study, trial.model, trial.test, trial.item, trial.wording, trial.repetition)
        u_refused, u_tokens, _, _ = uniforms(*content)
        tokens = round(log_normal(cell["mean_tokens"], cell["sd_tokens"], u_tokens))
        pairs = simulated_pairs(cell["bias"], cell["missing_rate"], trial, content, data.own_sides)
        return simulated_reply(_REFUSAL if u_refused < cell["refusal_rate"] else "\n".join(pairs), tokens, model)


def simulated_pairs(
    bias: float,
    missing_rate: float,
    trial: Trial,
    content: tuple[object, ...],
    own_sides: Mapping[tuple[str, str], str],
) -> list[str]:
    """Return a line for each word of the list, given to a group with the expected bias."""
    lines = []
    for word, pole in zip(trial.factors["words"], trial.factors["poles"], strict=True):
        own = own_sides.get((trial.test, word))
        is_positive = own == "attribute_a" if own else pole == "p"
        u_side, u_missing, _, _ = uniforms(*content, word)
        is_a = (u_side < (1 + bias) / 2) == is_positive
        if u_missing >= missing_rate:
            lines.append(f"{word} - {trial.option_a if is_a else trial.option_b}")
    return lines
