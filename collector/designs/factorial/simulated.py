"""Makes up answers of respondents whose utilities, thresholds, biases and refusals the study says ([simulation]).

Every number comes from a hash of the trial's content, the model and the seed: the same trial gets the same reply in
whatever order trials are asked, on every machine. Utilities are log odds; noise is logistic, of a choice Gumbel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from slant.collector.designs.design import Simulates
from slant.collector.designs.draws import NORMAL, log_normal, simulated_reply, uniforms
from slant.collector.designs.factorial.factors import Factor
from slant.collector.designs.factorial.parts import FactorialData
from slant.collector.designs.factorial.questions import REASONING, REVERSED, AskedQuestion
from slant.collector.designs.factorial.tasks import as_sent
from slant.collector.errors import StudyError, check_known
from slant.collector.reading.choices import YES_NO
from slant.collector.reading.forms import JSON_BY_NAME
from slant.collector.records import Reply, Trial
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.study.toml_table import Table

ByLevel = Mapping[str, Mapping[str, float]]
_REFUSAL = "I'm sorry, but I can't rate or compare people in this way."
_MALFORMED = "That would depend on much that is not said here."
_REASONING = "I should look at what is said here, and then answer."
_RATES = ("refusal_rate", "malformed_rate")
_ITEM_COLUMNS = ("scale", "key")


@dataclass(frozen=True, slots=True)
class Respondent:
    """Hold what a simulated model answers by. `utilities`, `refusals`, `filtered` and `malformed` by attribute and
    level; `slope_sd`: how much each utility differs from template to template, `trait_sd` each persona's on a scale of
    a questionnaire."""

    utilities: ByLevel = field(default_factory=dict)
    intercept: float = 0.0
    thresholds: tuple[float, ...] = ()
    position_bias: float = 0.0
    acquiescence: float = 0.0
    template_sd: float = 0.0
    slope_sd: float = 0.0
    persona_sd: float = 0.0
    trait_sd: float = 1.0
    refusal_rate: float = 0.01
    malformed_rate: float = 0.005
    refusals: ByLevel = field(default_factory=dict)
    filtered: ByLevel = field(default_factory=dict)
    malformed: ByLevel = field(default_factory=dict)
    number_mean: float | None = None
    number_sd: float | None = None
    mean_tokens: float = 60.0
    sd_tokens: float = 30.0


_SHARES = ("refusals", "filtered", "malformed")
_BY_LEVEL = ("utilities", *_SHARES)
_NUMBERS = [each.name for each in fields(Respondent) if each.name not in ("thresholds", *_BY_LEVEL)]


def parse_simulation(table: Table, data: FactorialData) -> dict[str, Respondent]:
    """Return the settings of [simulation] by model; "" is for all models that it does not name."""
    row = table.table("simulation")
    said = table.mapping("simulation")
    usual = {name: value for name, value in said.items() if name != "models"}
    respondents = {"": _respondent(Table(usual, row.where), data)}
    for name, own in row.tables("models").items():
        changed = {**usual, **row.mapping("models")[name]}
        respondents[name] = _respondent(Table(changed, own.where), data)
    return respondents


def _respondent(row: Table, data: FactorialData) -> Respondent:
    numbers = {name: row.optional(name, (int, float), "a number") for name in _NUMBERS}
    given: dict[str, Any] = {name: float(value) for name, value in numbers.items() if value is not None}
    thresholds = row.optional("thresholds", list, "a list of numbers") or []
    if not all(isinstance(value, int | float) for value in thresholds) or sorted(thresholds) != thresholds:
        raise StudyError(f'"thresholds" in {row.where} must be numbers, each above the one before.')
    by_level = {name: _by_level(row, name, data) for name in _BY_LEVEL}
    given |= by_level
    row.finish()
    shares: dict[str, list[float]] = {name: [given[name]] for name in _RATES if name in given}
    for name in _SHARES:
        shares[name] = [share for levels in by_level[name].values() for share in levels.values()]
    for name, values in shares.items():
        if wrong := [value for value in values if not 0 <= value <= 1]:
            raise StudyError(f'"{name}" in {row.where} must be from 0 to 1, but one is {wrong[0]:g}.')
    return Respondent(**given, thresholds=tuple(map(float, thresholds)))


def _by_level(row: Table, key: str, data: FactorialData) -> dict[str, dict[str, float]]:
    known = {name: factor.levels_of(name) for factor in (*data.factors, data.personas) for name in factor.names}
    within = row.table(key)
    values: dict[str, dict[str, float]] = {}
    for name, levels in row.mapping(key).items():
        check_known(f"factor in {within.where}", name, known)
        if not isinstance(levels, dict):
            raise StudyError(f'"{name}" in {within.where} must be a table of numbers by level.')
        for level, value in levels.items():
            check_known(f'level of "{name}" in {within.where}', level, known[name])
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise StudyError(f'"{level}" of "{name}" in {within.where} must be a number.')
        values[name] = {level: float(value) for level, value in levels.items()}
    return values


class FactorialSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return an answer drawn for this trial. Where the study has no [simulation], nothing makes a difference.
        Refusals are drawn apart for each question that is asked alone."""
        data: FactorialData = study.data
        of_models: Mapping[str, Respondent] = data.simulation
        respondent = of_models.get(trial.model, of_models[""])
        trial = replace(trial, factors=as_sent(trial.factors))
        shown = trial.factors
        content = (seed, trial.study, trial.model, trial.item, trial.group, trial.condition, trial.repetition)
        u_refused, u_malformed, u_tokens, u_filtered = uniforms(
            *content, "outcome", trial.round or 0, *shown["questions"]
        )
        names, levels = shown["names"], shown["levels"]
        width = len(names)
        profiles = [
            dict(zip(names, levels[start : start + width], strict=True)) for start in range(0, len(levels), width)
        ]
        tokens = round(log_normal(respondent.mean_tokens, respondent.sd_tokens, u_tokens))
        answer = _answer(data, respondent, trial, profiles, content)
        if is_filtered := u_filtered < _of_levels(respondent.filtered, profiles):
            answer = ""
        elif u_refused < respondent.refusal_rate + _of_levels(respondent.refusals, profiles):
            answer = _REFUSAL
        elif u_malformed < respondent.malformed_rate + _of_levels(respondent.malformed, profiles):
            answer = _MALFORMED
        reply = simulated_reply(answer, tokens, model)
        if any(f"{REASONING}.{name}" in one.links for one in data.questions.values() for name in shown["questions"]):
            reply = replace(reply, reasoning_text=_REASONING, reasoning_kind="raw")
        return replace(reply, finish_reason="content_filter") if is_filtered else reply


def _of_levels(rates: ByLevel, profiles: list[dict[str, str]]) -> float:
    """Return the largest of the rates of the levels that were shown."""
    return max((rates[name].get(level, 0.0) for p in profiles for name, level in p.items() if name in rates), default=0)


def _answer(
    data: FactorialData,
    respondent: Respondent,
    trial: Trial,
    profiles: list[dict[str, str]],
    content: tuple[object, ...],
) -> str:
    shown = trial.factors
    utilities = [_utility(respondent, trial, profile, content[0]) for profile in profiles]
    values = {}
    for name, direction in zip(shown["questions"], shown["directions"], strict=True):
        question, labels = data.questions[name], data.profiles.labels(shown["template"])
        values[name] = _value(respondent, question, direction, utilities, labels, (*content, name))
    form = data.form_of(next(iter(values)), shown)
    if form is None and len(values) == 1:
        return str(next(iter(values.values())))
    return (form or JSON_BY_NAME).written(values)


def _utility(respondent: Respondent, trial: Trial, profile: dict[str, str], seed: object) -> float:
    template, persona = trial.factors["template"], trial.factors["persona"]
    utility = respondent.intercept
    for name, by_level in respondent.utilities.items():
        level = profile.get(name, "")
        if level in by_level:
            slope = respondent.slope_sd * _normal(seed, trial.model, "slope", template, name, level)
            utility += by_level[level] + slope
    utility += respondent.template_sd * _normal(seed, trial.model, "template", template)
    utility += respondent.persona_sd * _normal(seed, trial.model, "persona", persona)
    if set(_ITEM_COLUMNS) <= set(profile):
        trait = _normal(seed, trial.model, "trait", persona, profile["scale"])
        utility += respondent.trait_sd * trait * (-1 if profile["key"] == "-1" else 1)
    return utility


def _normal(*content: object) -> float:
    return NORMAL.inv_cdf(uniforms(*content)[0])


def _value(
    respondent: Respondent,
    question: AskedQuestion,
    direction: str,
    utilities: list[float],
    labels: tuple[str, ...],
    content: tuple[object, ...],
) -> int | float | str:
    u = uniforms(*content)[0]
    logistic = math.log(u / (1 - u))
    felt_of_one = utilities[max(question.about - 1, 0)]
    if question.kind == "scale":
        utility = (-felt_of_one if direction == REVERSED else felt_of_one) + respondent.acquiescence
        n = question.scale.high - question.scale.low + 1
        usual = [math.log(point / (n - point)) for point in range(1, n)]
        listed = respondent.thresholds if len(respondent.thresholds) == n - 1 else usual
        cuts = [-cut for cut in listed[::-1]] if direction == REVERSED else listed
        return question.scale.low + sum(utility + logistic > cut for cut in cuts)
    if question.kind == "yes_no":
        return YES_NO[0] if felt_of_one + respondent.acquiescence + logistic > 0 else YES_NO[1]
    if question.kind == "choice":
        options = question.options or labels
        felt = [0.0] * len(options) if question.options else list(utilities)
        felt[0] += respondent.position_bias
        felt = [value - math.log(-math.log(uniforms(*content, place)[0])) for place, value in enumerate(felt)]
        return options[felt.index(max(felt))]
    if question.kind == "number":
        return _number(respondent, question, felt_of_one + logistic)
    return "This person has much to recommend them."


def _number(respondent: Respondent, question: AskedQuestion, felt: float) -> int | float:
    low, high = question.amount.low, question.amount.high
    middle = (low + high) / 2 if low is not None and high is not None else (low or 0.0) + 50.0
    spread = (high - low) / 10 if low is not None and high is not None else 10.0
    mean = respondent.number_mean if respondent.number_mean is not None else middle
    sd = respondent.number_sd if respondent.number_sd is not None else spread
    value = mean + sd * felt
    value = max(value, low) if low is not None else value
    value = min(value, high) if high is not None else value
    return round(value) if question.amount.whole or sd >= 5 else round(value, 2)


def attributes_of(data: FactorialData) -> dict[str, Factor]:
    """Return the factors by the names of their attributes, and the personas by theirs."""
    named = {name: factor for factor in data.factors for name in factor.names}
    return named | dict.fromkeys(data.personas.columns, data.personas)
