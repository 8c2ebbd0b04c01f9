"""What the paper says of its models as such: chains, iterations, priors, formula. Checked against the fits' own record.

A printed text, such as a prior, is not a number: what is recomputed of it is 1 where the fit's own is the same, else 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from slant.analysis.fitting.fits import Asked
from slant.analysis.paper.family import GRAIN, VALUE, Needs, Row, long, no_numbers
from slant.analysis.paper.interference import published
from slant.analysis.paper.interference.posteriors import STAGE_A, STAGE_B
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

_NUMBERS = ("chains", "iterations", "warmup", "n_draws")
_PRIORS = {"prior_b": "b", "prior_Intercept": "Intercept", "prior_sd": "sd"}
_TEXTS = (*_PRIORS, "formula", "reference")


def printed(study: Study) -> Iterator[Row]:
    return published.printed(study, published.OF_SETTINGS)


def needs(results: Results) -> Needs:
    return [], [Asked(fit) for fit in (STAGE_A, STAGE_B) if results.defines(fit)]


def recomputed(results: Results) -> pl.DataFrame:
    """Of both fits, which the paper made alike: a number that they don't share has no row."""
    models = [results.fitted(fit).tables["brms"]["models"] for fit in (STAGE_A, STAGE_B) if results.defines(fit)]
    if not models:
        return no_numbers()
    both = pl.concat([frame.select(*GRAIN, *_NUMBERS, "priors", "formula", "reference") for frame in models])
    same = [pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first()).alias(name) for name in _NUMBERS]
    numbers = both.group_by(GRAIN, maintain_order=True).agg(same).with_columns(table=pl.lit(published.SETTINGS))
    texts = _alike(both, results.study)
    return pl.concat([long(numbers, list(_NUMBERS)), texts]).select(VALUE)


def _alike(both: pl.DataFrame, study: Study) -> pl.DataFrame:
    said = {row[-2]: row[-1] for row in printed(study)}
    rows = both.with_columns(
        pl.Series(name, [_is_alike(name, said.get(name, ""), row, study) for row in both.to_dicts()], dtype=pl.Float64)
        for name in _TEXTS
    )
    least = rows.group_by(GRAIN, maintain_order=True).agg(pl.col(name).min() for name in _TEXTS)
    return long(least.with_columns(table=pl.lit(published.SETTINGS)), list(_TEXTS))


def _is_alike(name: str, printed_text: str, row: dict[str, str], study: Study) -> float:
    if name in _PRIORS:
        priors = dict(_split(part, "~") for part in row["priors"].split(";"))
        return float(priors.get(_PRIORS[name]) == _plain(printed_text))
    if name == "formula":
        outcome, terms = _split(row["formula"], "~")
        return float(f"y~{terms}" == _plain(printed_text) and bool(outcome))
    labels = {one.model: one.label for one in study.models} | {one.test: one.label for one in study.tests}
    levels = [_split(part, "=", plain=False)[1] for part in row["reference"].split(";")]
    own = {labels.get(level, level.title()) for level in levels}
    return float(own == {part.strip() for part in printed_text.split(",")})


def _split(text: str, sign: str, plain: bool = True) -> tuple[str, str]:
    left, _, right = text.partition(sign)
    return (_plain(left), _plain(right)) if plain else (left.strip(), right.strip())


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text)
