"""What a paper says of its Bayesian models as such: chains, iterations, priors, formula. Checked against the fits' own
record.

A printed text, such as a prior, is not a number: what is recomputed of it is 1 where the fit's own is the same, else 0.
"""

from __future__ import annotations

import re

import polars as pl

from slant.analysis.fitting.fits import FitRequest
from slant.analysis.paper.numbers import Numbers, frame_of_numbers
from slant.analysis.paper.published import published_numbers
from slant.analysis.paper.results import GRAIN, Results
from slant.collector.studies.catalogue import Study

_NUMBERS = ("chains", "iterations", "warmup", "n_draws")
_PRIORS = {"prior_b": "b", "prior_Intercept": "Intercept", "prior_sd": "sd"}
_TEXTS = (*_PRIORS, "formula", "reference")


def _fits(results: Results) -> list[FitRequest]:
    return [FitRequest(fit.name) for fit in results.study.fits.values() if fit.engine == "brms" and not fit.by]


def _recomputed(results: Results) -> pl.DataFrame:
    """Of all these fits, which papers make alike: a number that they don't share has no row."""
    models = [results.fitted(asked).bayes["models"] for asked in _fits(results)]
    if not models:
        return frame_of_numbers([])
    printed = dict(published_numbers(results.study).select("quantity", "printed").iter_rows())
    rows = []
    for grain, fits in pl.concat(models, how="diagonal").group_by(GRAIN, maintain_order=True):
        same = {name: fits[name][0] for name in _NUMBERS if fits[name].n_unique() == 1}
        alike = {
            name: min(_is_alike(name, printed.get(name, ""), row, results.study) for row in fits.to_dicts())
            for name in _TEXTS
        }
        rows += [(*grain, None, None, None, None, name, value, None) for name, value in {**same, **alike}.items()]
    return frame_of_numbers(rows)


def _is_alike(name: str, printed_text: str, row: dict[str, str], study: Study) -> float:
    if name in _PRIORS:
        priors = dict(_split(part, "~") for part in row["priors"].split(";"))
        return float(priors.get(_PRIORS[name]) == _plain(printed_text))
    if name == "formula":
        outcome, terms = _split(row["formula"], "~")
        return float(f"y~{terms}" == _plain(printed_text) and bool(outcome))
    labels = {model.model: model.label for model in study.models} | {test.test: test.label for test in study.tests}
    levels = [_split(part, "=", plain=False)[1] for part in row["reference"].split(";")]
    own = {labels.get(level, level.title()) for level in levels}
    return float(own == {part.strip() for part in printed_text.split(",")})


def _split(text: str, sign: str, plain: bool = True) -> tuple[str, str]:
    left, _, right = text.partition(sign)
    return (_plain(left), _plain(right)) if plain else (left.strip(), right.strip())


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text)


NUMBERS = Numbers("settings", (*_NUMBERS, *_TEXTS), _recomputed, fits=_fits)
