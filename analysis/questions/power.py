"""Plan how many words, wordings, repetitions or games it takes, and what they cost (`plan_power()`). R's plan_power()
makes the numbers; the variances that it starts from, and the prices, are here. Studies of factors are simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answer_of
from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.choices import CELL, crossed_choices
from slant.analysis.fitting.fits import Progress, fit
from slant.analysis.questions.power_of_levels import pilot_respondents, planned_fit, simulated_power
from slant.analysis.rows.cells import FEW_DF, GRAIN
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import view_rows
from slant.collector.arguments import checked_arguments
from slant.collector.cost.estimate import earlier_sizes, estimate_run, known_limits
from slant.collector.cost.quote import calls_of_game, guess_of
from slant.collector.errors import DatabaseError, UsageError
from slant.collector.keep.database import kept_open
from slant.collector.provenance.methods import listed
from slant.collector.providers.prices import PriceList, load_prices
from slant.collector.studies.catalogue import Study, fits_of, load_study
from slant.collector.study.crossed_fits import CROSSED
from slant.collector.study.records import StudyModel

OF_WORDS, OF_GAMES = ("word", "wording", "combination", "residual"), ("game",)
CONCURRENCY = 8
MAX_DATA_SETS = 10_000
OF_PILOT = (
    "Simulated with the effects that the pilot's answers have, as they are (too large, if the pilot was chosen for "
    "them), and compared as the study compares levels. Answers are drawn one by one: of a model that answers a prompt "
    "alike each time, repetitions find less."
)
OF_SIMULATION = (
    "Simulated by the study's own [simulation], and compared as the study compares levels: put the effects there that "
    "you expect, or the smallest that would matter."
)


@dataclass(frozen=True)
class PowerPlan:
    """Hold what `plan_power()` found.

    table: one row per cell and combination of numbers: source, study_version, variant, model, test (null if variances
    were given), n_words, n_wordings, n_repetitions (or n_games), n_calls, std_error, df, mde, mde_d, power,
    std_error_most, mde_most, power_least, std_error_endless, share_words, share_wordings, share_trials, raise, as R's
    plan_power() describes them (of a study of factors: model, and what simulated_power() gives); then cost_usd and
    time_s, each low, about and high, of the calls of that row. advice: which number to raise, in sentences.
    cost_rests_on: the basis of each model's cost and time.
    """

    table: pl.DataFrame
    advice: list[str]
    cost_rests_on: list[str]


@checked_arguments()
def plan_power(
    study: str | Path | Study | None = None,
    pilot: str | Path | None = None,
    variances: Mapping[str, float] | None = None,
    n_words: Sequence[int] = (),
    n_wordings: Sequence[int] = (),
    n_repetitions: Sequence[int] = (),
    n_games: Sequence[int] = (),
    effect: float | None = None,
    power: float | None = None,
    n_data_sets: int | None = None,
    source: str | None = None,
    models: Sequence[str] = (),
    tests: Sequence[str] = (),
    prices: str | Path | None = None,
    workers: Workers = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> PowerPlan:
    """Return the power and the cost of each number of words, wordings and repetitions (or of games) in `study`.

    The variances come from the answers in the database `pilot`, cell by cell, or are given: `word`, `wording` (of the
    effect between words and between wordings), `residual` (of trials), `combination` (what repetitions share, part of
    `residual` if it is left out) and, for effects as d, `sd`; for games `game` (of SI between games of one condition).
    Default numbers: the study's own, twice and four times as many words, and twice the wordings; repetitions 1, 2, 5;
    games 10, 30, 100, 300; power .8.

    A study of factors is simulated: the model in its `[simulation]` (with a pilot, one that answers as each of its
    models did) answers it `n_data_sets` times (100) with each number of repetitions (1, 2), and `power` of the rows is
    the share in which two levels differ (p < .05, corrected as the fit does). `models` and `tests`
    narrow a pilot down; costs of given variances are for these models, by default those that the study asks. `workers`
    and `executor` are as for `fit()`.

    Raise UsageError if there are neither variances nor a pilot, or both, or a plan of this study uses no such number;
    StudyError, DatabaseError and RError as `fit()` does.
    """
    if n_data_sets is not None and not 2 <= n_data_sets <= MAX_DATA_SETS:
        raise UsageError(f"n_data_sets must be from 2 to {MAX_DATA_SETS:,}, but is {n_data_sets}.")
    given = {
        "words": n_words, "wordings": n_wordings, "repetitions": n_repetitions, "games": n_games,
        "data sets": n_data_sets, "effect": effect, "power": power,
    }  # fmt: skip
    if variances is None and (its := _of_factors(study, pilot)) is not None:
        _check_used(its, given, ("repetitions", "data sets"))
        answering, repetitions, n_data_sets = executor or workers, list(n_repetitions) or [1, 2], n_data_sets or 100
        asked, unplanned = pilot_respondents(pilot, its, source, answering, models) if pilot else (None, [])
        planned = simulated_power(
            its, repetitions, n_data_sets, workers=answering, respondents=asked, models=models, progress=progress
        )
        planned = planned.filter(pl.col("test").is_in(list(tests))) if tests else planned
        priced, rests_on = _with_costs(planned, its, pilot, prices)
        rests = OF_SIMULATION if pilot is None else OF_PILOT
        return PowerPlan(priced, [*unplanned, rests, *_of_few_prompts(planned), *_of_one_pair(planned)], rests_on)
    if (pilot is None) == (variances is None):
        raise UsageError(
            "Planning needs either a pilot or given variances.",
            "From a pilot: --from pilot.duckdb",
            "Given: --word 250 --wording 30 --residual 3200; of games: --game 0.04",
        )
    if pilot is not None and not Path(pilot).is_file():
        raise UsageError(f'There is no database "{pilot}" of a pilot.', "To name another one: --from FILE")
    study = study_in(pilot, study, _can_be_planned, "can be planned for") if pilot is not None else _named(study)
    if not _can_be_planned(study):
        raise UsageError(
            f'A study like "{study.name}" (design {study.design.name}) can\'t be planned for.',
            "Planning works for token counts by condition, forced choices and games; a factorial study is simulated, "
            "without variances: analyze power --study FILE",
        )
    if variances and tests:
        raise UsageError("Given variances belong to no test: remove --test, or plan from a pilot: --from pilot.duckdb.")
    has_games = study.design.asks.plays_games
    _check_used(study, given, (*(("games",) if has_games else ("words", "wordings", "repetitions")), "effect", "power"))
    answering = executor or workers
    cells = _given(study, variances, models) if variances else _of_pilot(str(pilot), study, source, answering, progress)
    for name, wanted in (("model", models), ("test", tests)):
        cells = cells.filter(pl.col(name).is_in(list(wanted))) if wanted else cells
    if cells.is_empty():
        raise DatabaseError("Nothing to plan from: no model and test remain.", "See: analyze tables outcome_counts")
    wordings = len(getattr(study.data, "wordings", ()) or ()) or 1
    words = sorted(test.planned // (2 * wordings) for test in study.tests)
    own_words, own_wordings = max(2, words[len(words) // 2]) if words else 16, wordings
    numbers = (
        {"n_games": list(n_games) or [10, 30, 100, 300]}
        if has_games
        else {
            "n_words": list(n_words) or [own_words, 2 * own_words, 4 * own_words],
            "n_wordings": list(n_wordings) or [own_wordings, 2 * own_wordings],
            "n_repetitions": list(n_repetitions) or [1, 2, 5],
        }
    )
    rounds = {"n_rounds": calls_of_game(study, study.models[0], study.seed)} if has_games else {}
    numeric = [name for name in (*OF_WORDS, *OF_GAMES, "sd") if name in cells.columns]
    keyed = cells.select(pl.int_range(pl.len()).cast(pl.Int32).alias("cell"), pl.col(numeric).cast(pl.Float64))
    arguments = {**numbers, **rounds, "effect": effect, "power": 0.8 if power is None else power}
    answer = answer_of(Call("plan_power", keyed, arguments), answering)
    plan = answer.frames[""].join(
        cells.select(*CELL).with_row_index("cell").cast({"cell": pl.Int32}),
        on="cell",
        how="left",
        maintain_order="left",
    )
    plan = plan.with_columns(pl.col("n_calls").cast(pl.Int64))
    priced, rests_on = _with_costs(plan.select(*CELL, pl.exclude(*CELL, "cell")), study, pilot, prices)
    return PowerPlan(priced, [text.partition(": ")[2] for text in answer.messages], rests_on)


def _of_few_prompts(planned: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence on attributes whose levels have few names or prompts, if there are such."""
    if few := planned.filter(pl.col("df") < FEW_DF)["attribute"].unique(maintain_order=True).to_list():
        named, least = listed(name.replace("_", " ") for name in few), min(planned["df"].drop_nulls())
        yield (
            f"Each level of {named} has few names or prompts ({least:.1f} degrees of freedom), and repetitions add "
            "none: names, or levels of other factors, add more power."
        )


def _of_one_pair(planned: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence on the p that decides the first attribute, if it has one pair and other attributes follow."""
    attributes = planned.unique(["attribute", "first", "second"], maintain_order=True)["attribute"]
    if len(attributes) > 1 and (attributes == attributes[0]).sum() == 1:
        yield (
            f"The one pair of {attributes[0].replace('_', ' ')} is decided in sentences of `analyze` by p corrected "
            "over models and questions only: with one of each, see power_uncorrected."
        )


def _check_used(study: Study, given: Mapping[str, Any], used: Sequence[str]) -> None:
    for name, value in given.items():
        if value and name not in used:
            hint = "The effects that you expect belong into its [simulation]." if "data sets" in used else ""
            raise UsageError(f'A plan of "{study.name}" uses {listed(used)}, and no {name}.', *filter(None, [hint]))


def _of_factors(study: str | Path | Study | None, pilot: str | Path | None) -> Study | None:
    """Return the study if its levels are compared, so that its plan is simulated."""
    if pilot is not None and Path(pilot).is_file():
        its = study_in(
            pilot, study, lambda one: planned_fit(one) is not None or _can_be_planned(one), "can be planned for"
        )
    elif pilot is None and study is not None:
        its = _named(study)
    else:
        return None
    return its if planned_fit(its) else None


def _can_be_planned(study: Study) -> bool:
    return bool(study.design.analyses.choice) or study.design.asks.plays_games or CROSSED in fits_of(study)


def _named(study: str | Path | Study | None) -> Study:
    if study is None:
        raise UsageError("Planning from given variances needs a study.", "Name it: --study mine.toml")
    return study if isinstance(study, Study) else load_study(study)


def _given(study: Study, variances: Mapping[str, float], models: Sequence[str]) -> pl.DataFrame:
    needed = OF_GAMES if study.design.asks.plays_games else ("word", "residual")
    if missing := [name for name in needed if name not in variances]:
        raise UsageError(
            f'A plan of "{study.name}" needs the variance of {missing[0]}.',
            f"Needed: {', '.join(f'--{name}' for name in needed)}; or a pilot: --from pilot.duckdb",
        )
    named = [*models] or [model.model for model in study.models if model.asked_by_default]
    rows = [{**dict.fromkeys(CELL), "model": model, **variances} for model in named]
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(CELL, pl.String))


def _of_pilot(db: str, study: Study, source: str | None, workers: Workers, progress: Progress | None) -> pl.DataFrame:
    if study.design.analyses.choice:
        choices = crossed_choices(db, study, source, workers)
        return _variances(choices["effects"].select(CELL), choices["shares"])
    if study.design.asks.plays_games:
        view, index = study.design.analyses.game_index
        games = view_rows(db, view, study=study.name, source=source)
        games = games.filter("is_complete").drop_nulls(index)
        cells = games.group_by(*GRAIN, "model", maintain_order=True).agg(game=pl.col(index).var())
        return cells.with_columns(test=pl.lit(index)).drop_nulls("game")
    result = fit(db, study, CROSSED, source=source, workers=workers, progress=progress)
    effects = result.tables[CROSSED]["effects"].select(*CELL, "sd")
    return _variances(effects, result.tables[CROSSED]["shares"])


def _variances(effects: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """Return a row per cell: the variances of the effect between words and between wordings, of trials, and of
    combinations of word, wording and condition (null without repetitions)."""
    is_slope = ~pl.col("term").is_in(["intercept", "residual"]) & ~pl.col("term").str.contains(":", literal=True)
    kinds = {
        "word": is_slope & (pl.col("group") != "wording"),
        "wording": is_slope & (pl.col("group") == "wording"),
        "combination": pl.col("group") == "combination",
        "residual": pl.col("group") == "residual",
    }
    sums = shares.group_by(CELL, maintain_order=True).agg(
        *(pl.col("variance").filter(rows).sum().alias(name) for name, rows in kinds.items()),
        has_repetitions=kinds["combination"].any(),
    )
    known = pl.when("has_repetitions").then("combination")  # otherwise it is part of the residual variance
    sums = sums.with_columns(combination=known).drop("has_repetitions")
    return effects.join(sums, on=CELL, how="inner", maintain_order="left")


def _with_costs(
    plan: pl.DataFrame, study: Study, pilot: str | Path | None, own_prices: str | Path | None
) -> tuple[pl.DataFrame, list[str]]:
    """Add what the calls of each row cost and how long they take, as `collect --dry-run` estimates it."""
    prices = load_prices(own_prices)
    known = {model.model: model for model in study.models}
    parts, rests_on = [], []
    with kept_open(pilot) if pilot is not None else nullcontext():
        for (name,), rows in plan.group_by("model", maintain_order=True):
            model = known.get(str(name))
            costs, basis = _costs(study, model, rows["n_calls"].to_list(), pilot, prices)
            parts.append(rows.hstack(pl.DataFrame(costs, schema=_COST_COLUMNS)))
            rests_on.append(f"{name}: {basis}")
    return pl.concat(parts), rests_on


_SPANS = ("cost_usd", "time_s")
_COST_COLUMNS = {f"{name}_{part}": pl.Float64 for name in _SPANS for part in ("low", "about", "high")}


def _costs(
    study: Study, model: StudyModel | None, calls: Sequence[int], pilot: str | Path | None, prices: PriceList
) -> tuple[list[dict[str, Any]], str]:
    """Return the costs of these numbers of calls; and their basis."""
    if model is None:
        return [dict.fromkeys(_COST_COLUMNS) for _ in calls], "no model of the study, so its cost is unknown."
    sizes = earlier_sizes(Path(pilot), study, model) if pilot is not None else None
    limits = known_limits(Path(pilot), model) if pilot is not None else {}
    price = prices.find(model.provider, model.requested_model)
    guess = guess_of(study, model, study.seed)
    estimates = [estimate_run(n, sizes, guess, price, limits, CONCURRENCY) for n in calls]
    spans = [{name: getattr(estimate, name) for name in _SPANS} for estimate in estimates]
    values = [
        {
            f"{name}_{part}": span and getattr(span, part)
            for name, span in of_run.items()
            for part in ("low", "about", "high")
        }
        for of_run in spans
    ]
    priced = "no price is known" if price is None else f"prices as of {price.date}"
    return values, f"{priced}; tokens: {estimates[0].tokens_rest_on}; time: {estimates[0].time_rests_on}."
