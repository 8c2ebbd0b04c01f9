"""Make up codings: each text has a true code that its id decides, and coders err with the chances that a study names.

The people of a simulation (`simulated/people`) never err, so that what is corrected by them comes out as it was put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.coding.codebook import SCALE, SEVERAL, Codebook
from slant.collector.designs.design import Simulates
from slant.collector.designs.draws import log_normal, simulated_reply, uniforms
from slant.collector.errors import StudyError
from slant.collector.records import Reply, Trial
from slant.collector.sources import PEOPLE
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.study.toml_table import Table

_SHARE_REFUSED = 0.01


@dataclass(frozen=True, slots=True)
class Errors:
    """Hold the chances that a coder sees the first code where it is, and where it is not; of several codes, each; of a
    scale, `sensitivity` is the chance of the true point."""

    sensitivity: float = 0.95
    false_positives: float = 0.05


@dataclass(frozen=True, slots=True)
class CodingSimulation:
    """Hold what simulated coders go by: how frequent each code is, and their errors, by factor and level if these
    differ."""

    prevalence: Mapping[str, float]
    errors: Errors = Errors()
    where: Mapping[str, Mapping[str, Errors]] = field(default_factory=dict)

    def errors_of(self, shown: Mapping[str, str]) -> Errors:
        """Return the errors of a text with these levels; of several factors that differ, the first decides."""
        return next((own[shown[name]] for name, own in self.where.items() if shown.get(name) in own), self.errors)


def parse_simulation(table: Table, codebook: Codebook, factors: Mapping[str, Any]) -> CodingSimulation:
    """Return the table [simulation]; without it, all codes are equally frequent."""
    shares = table.mapping("prevalence")
    if unknown := [name for name in shares if name not in codebook.names]:
        raise StudyError(f'{table.where} has the prevalence of "{unknown[0]}", which is no code.')
    usual = 0.3 if codebook.kind == SEVERAL else 1 / len(codebook.names)
    prevalence = {name: _share(shares.get(name, usual), f"prevalence of {name}", table) for name in codebook.names}
    errors = _errors(table, Errors())
    where = {}
    for name, levels in table.tables("where").items():
        if name not in factors:
            raise StudyError(f'{levels.where} is about "{name}", which [factors] does not list.')
        where[name] = {level: _errors(levels.table(level), errors) for level in levels.names}
        for level in levels.names:
            levels.table(level)
    table.finish()
    return CodingSimulation(prevalence, errors, where)


def _errors(table: Table, usual: Errors) -> Errors:
    named = ("sensitivity", "false_positives")
    return Errors(*(_share(table.optional(name, (int, float), "a number"), name, table, usual) for name in named))


def _share(value: Any, name: str, table: Table, usual: Errors | None = None) -> float:
    found = getattr(usual, name) if value is None else value
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
        raise StudyError(f"The {name} in {table.where} must be a share from 0 to 1, but it is {found!r}.")
    return float(found)


class CodingSimulates(Simulates):
    participants: Mapping[str, str] = {PEOPLE: "People who never err (simulated)"}

    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        data = study.data
        codebook: Codebook = data.codebook
        drawn_by = (seed, trial.model, trial.item, trial.repetition)
        u_refused, _, _, u_tokens = uniforms(*drawn_by, "coding")
        errors = data.simulation.errors_of(data.texts[trial.item].factors)
        truth = _truth(study, trial)
        is_person = trial.model == PEOPLE
        codes = truth if is_person else _seen(codebook, truth, errors, drawn_by)
        tokens = round(log_normal(120.0, 40.0, u_tokens))
        order = trial.factors["order"]
        numbers = [code if codebook.kind == SCALE else str(order.index(code) + 1) for code in codes] or ["0"]
        refuses = u_refused < _SHARE_REFUSED and not is_person
        answer = "I'm sorry, but I can't help with that." if refuses else ", ".join(numbers)
        return simulated_reply(answer, tokens, model, 2)


def _truth(study: StudyFile, trial: Trial) -> list[str]:
    """Return the true codes of a text: the rule's, if there is one, else what its id draws."""
    data = study.data
    if first := data.texts[trial.item].first_coding:
        return [first]
    shares = data.simulation.prevalence
    if data.codebook.kind == SEVERAL:
        return [code for code, share in shares.items() if uniforms(study.seed, trial.item, code)[0] < share]
    return [_drawn(shares, uniforms(study.seed, trial.item)[0])]


def _drawn(shares: Mapping[str, float], u: float) -> str:
    left = u * (sum(shares.values()) or 1)
    for code, share in shares.items():
        left -= share
        if left < 0:
            return code
    return list(shares)[-1]


def _seen(codebook: Codebook, truth: list[str], errors: Errors, drawn_by: tuple[object, ...]) -> list[str]:
    """Return the code that a coder with these errors gives."""
    names = codebook.names
    if codebook.kind == SEVERAL:
        chances = {code: errors.sensitivity if code in truth else errors.false_positives for code in names}
        return [code for code in names if uniforms(*drawn_by, code)[0] < chances[code]]
    u, u_other = uniforms(*drawn_by)[:2]
    true, first = truth[0], names[0]
    if codebook.kind == SCALE or true == first:
        others = [name for name in names if name != true]
        return [true if u < errors.sensitivity else others[int(u_other * len(others))]]
    return [first if u < errors.false_positives else true]
