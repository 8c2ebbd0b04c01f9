"""What every coding study is asked without a word in its file: what the coded texts say, corrected for the coder's
errors by those that people have coded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slant.collector.study.records import Fit, StudyFile

VIEW = "coded_texts"
PEOPLE, CODER, PROBABILITY, CODE = "people", "coder", "probability", "code"
AGREEMENT, UNDECIDED = "agreement", "undecided"
"""Name the conditions where a file of texts has none: texts that a rule has coded, and those that it has not."""
MOST_LEVELS = 30


def fits_of_codes(study: StudyFile) -> dict[str, Fit]:
    """Return the fits by name: of a code's frequency (or a scale's mean) as it is, and by the factors of the texts."""
    data = study.data
    levels = {name: known for name, known in data.factors.items() if 1 < len(known) <= MOST_LEVELS}
    conditions = tuple(condition.condition for condition in study.conditions)
    if len(conditions) > 1 and not set(conditions) <= {AGREEMENT, UNDECIDED}:
        levels |= {"condition": conditions}
    pairs = [pair for pair in data.linked if set(pair) <= set(levels)]
    alone = [name for name in levels if all(name not in pair for pair in pairs)]
    formula = f"{PEOPLE} ~ {' + '.join([*alone, *(' * '.join(pair) for pair in pairs)]) or '1'}"
    settings: dict[str, Any] = {"codes": {PEOPLE: CODER}}
    averaged = {"estimator": "amce"} if pairs else {}
    cluster = {"cluster": data.cluster} if data.cluster else {}
    sampled = {**settings, **cluster, PROBABILITY: PROBABILITY}
    fits = {"dsl": _fit("dsl", formula, levels, sampled | averaged)}
    fits["prevalence"] = _fit("dsl", f"{PEOPLE} ~ 1", {}, sampled)
    fits["ppi"] = _fit("ppi", formula, levels, sampled | averaged)
    return {name: replace(fit, name=name) for name, fit in fits.items()}


def _fit(engine: str, formula: str, levels: dict[str, tuple[str, ...]], settings: dict[str, Any]) -> Fit:
    shown = dict(levels)
    return Fit(engine, engine, VIEW, formula, None, None, ("model", "test"), shown, tuple(shown), (), settings)
