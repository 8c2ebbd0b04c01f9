"""Estimate what a run would take, before it is asked: tokens, cost and time, each with a range and its basis, which is
what a database knows of earlier answers of the model.

For a successor, say how many prompts decide whether it answers alike: from the variance of earlier answers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector.ask.lane_money import may_be_billed
from slant.collector.ask.rate_limits import told_budgets
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.stored_attempts import attempts_where
from slant.collector.keep.view_heads import ordered_view
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.prices import PER_TOKENS, Price
from slant.collector.records import Reply
from slant.collector.studies.catalogue import Study, fits_of
from slant.collector.study.records import StudyModel

_PLAYED = ("simulated",)
_REAL = ("collected", "imported")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Hold means over `n_counted` of `n` earlier answers of one model; tokens, seconds. None if nothing was counted."""

    n: int
    n_counted: int
    mean_input_tokens: float | None
    mean_output_tokens: float | None
    sd_output_tokens: float | None
    max_output_tokens: int | None
    mean_latency_s: float | None


def earlier_sizes(db: Path, study: Study, model: StudyModel) -> Sizes | None:
    """Return sizes of this model's answers to this study (its version and variant first); None if there are none."""
    if not db.exists():
        return None
    query = "SELECT * FROM answer_sizes WHERE study = ? AND model = ? AND requested_model = ? ORDER BY ALL"
    with reading(db) as connection:
        rows = frame_of(connection.sql(query, params=[study.name, model.model, model.requested_model]))
        sources = _PLAYED if model.provider == "simulated" else _REAL
        same = (pl.col("study_version") == study.version) & (pl.col("variant") == study.variant)
        rows = rows.filter(pl.col("source").is_in(sources), pl.col("n_counted") > 0)
        rows = rows.sort(same, pl.col("source") == "collected", pl.col("n_counted"), descending=True)
        if rows.height:
            return Sizes(**{name: rows[name][0] for name in Sizes.__dataclass_fields__})
    return None


def known_limits(db: Path, model: StudyModel) -> dict[str, float]:
    """Return requests and tokens per minute from the provider's latest headers, by kind; empty if they had none."""
    if not db.exists():
        return {}
    query = "SELECT headers FROM attempts WHERE provider = ? AND requested_model = ? AND headers LIKE '%ratelimit%' "
    with reading(db) as connection:
        last = query + "ORDER BY done_at DESC LIMIT 1"
        rows = connection.execute(last, [model.provider, model.requested_model]).fetchall()
    headers: dict[str, Any] = json.loads(rows[0][0]) if rows else {}
    return {
        budget.kind.removesuffix("_minute"): budget.limit
        for budget in told_budgets({k: str(v) for k, v in headers.items()})
    }


def spent_before_usd(db: Path, study: str) -> float:
    """Return the cost of a study's answers so far, in US dollars, in the database and in journals not yet loaded."""
    condition = "study = $study AND source = 'collected'"
    parts = attempts_where(db, condition, {"study": study}, "sum(cost_usd) AS cost_usd")
    return sum((float(part["cost_usd"].sum()) for part in parts), 0.0)


_UNCOUNTED = """
study = $study AND source = 'collected' AND cost_usd IS NULL AND (input_tokens IS NULL OR output_tokens IS NULL)
AND (http_status = 200 OR (http_status IS NULL AND batch_id IS NULL))"""
"""Select requests without counts; may_be_billed() says which were sent at all. What a batch job let expire has no
status, and is not billed."""
_UNPRICED = """
study = $study AND source = 'collected' AND cost_usd IS NULL
AND input_tokens IS NOT NULL AND output_tokens IS NOT NULL"""
_TOKENS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens")


def uncounted_models(db: Path, study: str) -> list[tuple[str, str, bool]]:
    """Return providers and models of a study's requests without a count of their cost, and whether they were asked by
    batch; in the database and in journals not yet loaded.
    """
    columns = "DISTINCT provider, requested_model, batch_id IS NOT NULL AS is_batch"
    parts = attempts_where(db, _UNCOUNTED, {"study": study}, columns)
    return sorted({row for part in parts for row in part.iter_rows()})


def uncounted_requests(db: Path, study: str, provider: str, model: str, *, is_batch: bool) -> Iterator[dict[str, Any]]:
    """Yield the bodies, as they are stored, of such requests to one model that may have been billed."""
    of_model = "provider = $provider AND requested_model = $model AND (batch_id IS NOT NULL) = $batch"
    values = {"study": study, "provider": provider, "model": model, "batch": is_batch}
    for part in attempts_where(db, f"{_UNCOUNTED} AND {of_model}", values, "request, http_status, error, response"):
        for request, status, error, response in part.iter_rows():
            if may_be_billed(Exchange(status=status, error=error, body=response)):
                yield json.loads(request or "{}")


def unpriced_tokens(db: Path, study: str) -> dict[tuple[str, str, bool], Reply]:
    """Return sums of counts of answers that came without a known price, by provider, model and whether by batch."""
    columns = f"provider, requested_model, batch_id IS NOT NULL AS is_batch, {', '.join(_TOKENS)}"
    kinds = ("provider", "requested_model", "is_batch")
    parts = [
        part.group_by(kinds).agg(pl.col(_TOKENS).sum())
        for part in attempts_where(db, _UNPRICED, {"study": study}, columns)
    ]
    rows = (
        pl.concat(parts, how="vertical_relaxed").group_by(kinds).agg(pl.col(_TOKENS).sum()).iter_rows() if parts else ()
    )
    return {
        (provider, model, is_batch): Reply(**dict(zip(_TOKENS, counts, strict=True)))
        for provider, model, is_batch, *counts in rows
    }


ASSUMED_LATENCY_S = (2.0, 8.0, 30.0)  # low, about, high: a reasoning model, one answer
Z_95 = 1.96


@dataclass(frozen=True, slots=True)
class Span:
    """Hold an estimate with its range."""

    low: float
    about: float
    high: float

    def times(self, factor: float) -> Span:
        return Span(self.low * factor, self.about * factor, self.high * factor)

    def plus(self, other: Span) -> Span:
        return Span(self.low + other.low, self.about + other.about, self.high + other.high)


BATCH_TIME = Span(60.0, 3600.0, 86_400.0), "a batch job takes up to a day, often less"


@dataclass(frozen=True, slots=True)
class Guess:
    """Hold what is known about one prompt and one answer without earlier answers. If `output_tokens` is None, nothing
    is known; else `table` names the study's table that has it."""

    characters: float
    output_tokens: float | None
    table: str = "published table"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Hold what the pending trials of one model take: tokens, US dollars, seconds. None is unknown."""

    input_tokens: Span
    output_tokens: Span | None
    cost_usd: Span | None
    time_s: Span
    tokens_rest_on: str
    time_rests_on: str


def estimate_run(
    pending: int,
    sizes: Sizes | None,
    guess: Guess,
    price: Price | None,
    limits: Mapping[str, float],
    concurrency: int,
    *,
    is_batch: bool = False,
) -> Estimate:
    """Estimate a run. `limits` are requests and tokens per minute by kind, from the provider's headers; `concurrency`
    are in flight."""
    if sizes is not None and sizes.mean_input_tokens is not None:
        sent = Span(*[pending * sizes.mean_input_tokens] * 3)
    else:  # English has about four characters per token
        sent = Span(*(pending * guess.characters / length for length in (5, 4, 3)))
    output, rests_on = _output(pending, sizes, guess)
    cost = _cost(sent, output, price, is_batch)
    time_s, time_rests_on = BATCH_TIME if is_batch else _time(pending, sizes, sent, output, limits, concurrency)
    return Estimate(sent, output, cost, time_s, rests_on, time_rests_on)


def _output(pending: int, sizes: Sizes | None, guess: Guess) -> tuple[Span | None, str]:
    if sizes is not None and sizes.mean_output_tokens is not None:
        return prediction(pending, sizes), f"{sizes.n_counted:,} earlier answers (95 % range)"
    if guess.output_tokens is not None:
        about = pending * guess.output_tokens
        return Span(about / 2, about, about * 2), f"the study's {guess.table} (half to twice as much)"
    return None, "no estimate, because the length of its answers is unknown (--pilot 50 will measure it)"


def prediction(pending: int, sizes: Sizes) -> Span:
    """Return the sum of `pending` further answers like the earlier ones, with its 95 % prediction interval."""
    mean, n = sizes.mean_output_tokens or 0.0, sizes.n_counted
    sd = mean if sizes.sd_output_tokens is None else sizes.sd_output_tokens
    half = Z_95 * sd * math.sqrt(pending + pending**2 / n)
    return Span(max(0.0, pending * mean - half), pending * mean, pending * mean + half)


def _cost(sent: Span, output: Span | None, price: Price | None, is_batch: bool) -> Span | None:
    """Return the cost without discounts for cached input, which are not certain."""
    factor = 1.0 if price is None or not is_batch else price.batch_factor
    if price is None or output is None or factor is None:
        return None
    return sent.times(factor * price.input / PER_TOKENS).plus(output.times(factor * price.output / PER_TOKENS))


def _time(
    pending: int, sizes: Sizes | None, sent: Span, output: Span | None, limits: Mapping[str, float], concurrency: int
) -> tuple[Span, str]:
    """Return the slowest of: waiting for answers, requests per minute, tokens per minute."""
    rounds = math.ceil(pending / concurrency)
    if sizes is not None and sizes.mean_latency_s:
        waiting = Span(0.8, 1.0, 1.25).times(rounds * sizes.mean_latency_s)
        rests_on = f"{sizes.mean_latency_s:.3g} s an answer as before, {concurrency} in flight"
    else:
        low, about, high = (rounds * latency for latency in ASSUMED_LATENCY_S)
        waiting = Span(low, about, high)
        shortest, _, longest = ASSUMED_LATENCY_S
        rests_on = f"{shortest:g} to {longest:g} s an answer (assumed), {concurrency} in flight"
    slowest, limit = waiting, ""
    output_tokens = output or Span(0.0, 0.0, 0.0)
    parts = {"requests": Span(pending, pending, pending), "input_tokens": sent, "output_tokens": output_tokens}
    for kind, per_minute in limits.items():
        needed = parts.get(kind, sent.plus(output_tokens)).times(60 / per_minute)
        if needed.about > slowest.about:
            limit = f", and the provider's {per_minute:,.0f} {kind.replace('_', ' ')} a minute"
            slowest = Span(max(waiting.low, needed.low), needed.about, max(waiting.high, needed.high))
    known = limit or ("" if limits else "; no limit of the provider is known yet")
    return slowest, rests_on + known


def spoken_usd(cost: Span | None) -> str:
    """Return a cost for a person: 4.10 (3.90 to 4.30); a question mark if it is unknown."""
    return "?" if cost is None else f"{dollars(cost.about)} ({dollars(cost.low)} to {dollars(cost.high)})"


def dollars(amount: float | None) -> str:
    """Return $12.30; below a cent with as many digits as it needs; a question mark, never 0, if it is unknown."""
    if amount is None:
        return "?"
    return f"${amount:,.2f}" if amount >= 0.1 or amount == 0 else f"${amount:.2g}"


def as_columns(name: str, span: Span | None, digits: int = 0) -> dict[str, Any]:
    """Return a span as three columns: name_low, name_about, name_high."""
    values = (None, None, None) if span is None else (span.low, span.about, span.high)
    numbers = [None if v is None else (round(v, digits) if digits else round(v)) for v in values]
    return {f"{name}_{part}": number for part, number in zip(("low", "about", "high"), numbers, strict=True)}


MEASURES = {"scale": "rating", "yes_no": "is_yes", "profile": "chosen"}
"""Name what is measured by a kind of question."""
_PROMPT = ("test", "condition", "item", "wording", "position")
_NUISANCE = ("item", "template")
# Two one-sided tests at 5 % both reject with a probability of 80 % where nothing differs if the bound is this many
# standard errors: 1.645 + 1.282.
_ERRORS_IN_BOUND = 2.927


def measured_by(study: Study) -> tuple[str, str]:
    """Return the view and the column that one prompt's answers of two models are compared by; empty for games."""
    analyses = study.design.analyses
    return analyses.measured if analyses.measured[0] else analyses.compared


def bounds_of(study: Study, typed: Sequence[str] = ()) -> dict[str, float]:
    """Return the bound by measure ("" for any but rates): as typed, "0.2" or "rate=0.1", else half the smallest effect
    that the study names. Raise UsageError for one that is no number above 0."""
    own = dict(study.smallest_effect) or ({"": study.data.bound} if getattr(study.data, "bound", None) else {})
    bounds = {name: effect / 2 for name, effect in own.items()}
    for text in typed:
        name, _, number = text.rpartition("=")
        try:
            bounds[name] = float(number)
        except ValueError:
            bounds[name] = 0.0
        if not 0 < bounds[name] < math.inf:
            raise UsageError(
                f'"{text}" is no bound: it must be a number above 0.', "As in: --bound 0.2 --bound rate=0.05"
            )
    return bounds


def deciding_trials(db: Path, study: Study, model: str, bounds: Mapping[str, float]) -> int:
    """Return the smallest number of prompts, of all tests, with which every mean and effect of a level is found
    equivalent with a probability of 80 % if nothing differs.

    Errors are those of independent prompts: the variance is that of repetitions of a prompt, or without repetitions
    that of all answers to a test, twice. Raise UsageError without a bound or without answers of `model`.
    """
    view, outcome = measured_by(study)
    if not view or not bounds:
        what = "names no smallest effect" if view else "is not compared by prompt"
        raise UsageError(
            f'How many prompts decide can\'t be said: "{study.name}" {what}.',
            "Name a bound (--bound 0.2), or how many to ask: --trials 200",
        )
    rows = _answers(db, study, view, outcome, model)
    if rows.height < 2:
        raise UsageError(
            f'How many prompts decide can\'t be said: "{db}" has no answers of {model} to "{study.name}".',
            "Say how many to ask of both: --trials 200",
        )
    levels_of: Mapping[str, Sequence[object]] = next(
        (fit.levels for fit in fits_of(study).values() if fit.engine in ("amce", "paired")),
        {"condition": study.conditions},
    )
    most = max((len(levels) for name, levels in levels_of.items() if name not in _NUISANCE), default=1)
    kind = pl.col("kind").replace(MEASURES) if "kind" in rows.columns else pl.lit(outcome)
    per_test = []
    for (test, measure), own in rows.with_columns(measure=kind).group_by("test", "measure"):
        bound = bounds.get(str(measure), bounds.get(""))
        variance = _variance(own, outcome)
        if bound is not None and variance is not None:
            shares = 1 if most < 2 else 2 * most  # 1 / n of a mean; of two levels of n / most prompts each
            per_test.append((test, 2 * variance * shares * (_ERRORS_IN_BOUND / bound) ** 2))
    n_tests = rows["test"].n_unique() if "kind" not in rows.columns else 1  # questions share a prompt
    return max(math.ceil(max((n for _, n in per_test), default=0)) * n_tests, 2 * n_tests)


def _answers(db: Path, study: Study, view: str, outcome: str, model: str) -> pl.DataFrame:
    if not db.exists():
        return pl.DataFrame()
    with reading(db) as connection:
        rows = ordered_view(connection, view).filter(f"study = '{study.name}' AND {outcome} IS NOT NULL")
        known = [name for name in ("model", "kind", *_PROMPT) if name in rows.columns]
        frame: pl.DataFrame = frame_of(rows.select(*dict.fromkeys((*known, outcome))))
    name = model.rpartition("/")[2]
    asked = [one.model for one in study.models if model in (one.model, f"{one.provider}/{one.requested_model}")]
    return frame.filter(pl.col("model").is_in([model, name, *asked])).with_columns(pl.col(outcome).cast(pl.Float64))


def _variance(rows: pl.DataFrame, outcome: str) -> float | None:
    """Return the variance of the same prompt's repetitions, if thirty were repeated; else that of all answers."""
    by = [name for name in _PROMPT if name in rows.columns and name != "position"]
    squares = pl.col(outcome).var() * (pl.len() - 1)
    groups = rows.group_by(by).agg(n=pl.len(), squares=squares).filter(pl.col("n") > 1)
    if groups.height >= 30:
        return float(groups.select(pl.col("squares").sum() / (pl.col("n") - 1).sum()).item())
    found = rows.select(pl.col(outcome).var()).item()
    return None if found is None else float(found)
