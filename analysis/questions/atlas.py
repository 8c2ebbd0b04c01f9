"""Put the effects of many studies and models side by side, by the models' dates of release: do newer models of a family
lean more? R's meta_analysis() pools them, models nested in generations and makers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.questions.successor import OF_TRIALS, PROMPT, MeasuredAnswers, can_pair, measured_answers
from slant.analysis.rows.study_choice import loadable_studies, no_trials_error, study_names
from slant.collector.arguments import checked_arguments
from slant.collector.errors import UsageError
from slant.collector.study.folder import csv_rows, read_text
from slant.collector.terminal import count_text

EFFECT = ("source", "study", "variant", "measure", "term")
_OF_MODEL = ("released", "maker", "generation")
_TRIAL = ("source", "study_version", "variant", "model", "trial_id", "position", "measure")
_MAKERS = {
    "gpt": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic",
    "gemini": "google", "gemma": "google", "llama": "meta", "mistral": "mistral", "mixtral": "mistral",
    "ministral": "mistral", "qwen": "alibaba", "qwq": "alibaba", "deepseek": "deepseek", "grok": "xai",
    "command": "cohere", "phi": "microsoft", "kimi": "moonshot", "glm": "zhipu",
}  # fmt: skip
_FAMILY = re.compile(r"(o\d|[a-z]+)(?:.*?(\d+(?:[.-]\d(?![\da-z]))?)(?![\dbm]))?")
_DAY = re.compile(r"(?<!\d)(20[12]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")


@dataclass(frozen=True)
class Atlas:
    """Hold what `atlas()` found.

    table: for each source, study, variant, measure and term the rows that R's meta_analysis() describes: the effect of
    each test and model ("cell"), of each model, partially pooled ("of_model"), the mean over models, what to expect of
    new ones, the trend per year ("trend") and standard deviations; with the model's maker, generation and date. Effects
    of fewer than three tests and models have cells only. summary: the trends in sentences. n_twice: trials that were in
    several files, and count once. warnings: what is doubtful.
    """

    table: pl.DataFrame
    summary: list[str]
    n_twice: int
    warnings: list[str]


@checked_arguments()
def atlas(
    files: Sequence[str | Path],
    study: str | None = None,
    source: str | None = None,
    models: str | Path | None = None,
    alpha: float = 0.05,
    workers: Workers = None,
    executor: Executor | None = None,
) -> Atlas:
    """Compare the effects of studies in several databases, by model and date of release.

    Effects are those of the levels that a study compares (without levels, its mean), over its own clusters. A date is
    taken from the name under which a model was asked, or answered (gpt-4o-2024-08-06), maker and generation from its
    family. `models`: a CSV that says it better: model, and released, maker, generation.

    Raise UsageError if no study has answers that are paired by prompts, RError without R or its package metafor.
    """
    answering = executor or workers
    warnings: list[str] = []
    read = [each for file in files for each in _answers(Path(file), study, source)]
    if not read:
        raise UsageError(
            "No file has answers of a study that compares levels of what a prompt shows.",
            "Games are compared by: analyze differences; how stable choices and codes are: analyze retest",
        )
    parts, n_twice = [], 0
    for name in dict.fromkeys(name for name, _ in read):
        own = [answers for other, answers in read if other == name]
        rows = pl.concat([answers.rows for answers in own], how="diagonal_relaxed")
        once = rows.unique(_TRIAL, keep="first", maintain_order=True)
        trials = pl.concat([answers.trials for answers in own], how="diagonal_relaxed")
        n_twice += trials.height - trials.unique(_TRIAL[:5]).height
        if (versions := once["study_version"].unique(maintain_order=True)).len() > 1:
            warnings.append(f'"{name}" was changed: its versions {", ".join(versions)} are taken together.')
        effects = _effects(name, own[0], once, answering)
        has_error = pl.col("std_error").fill_null(0) > 0
        if (without := effects.filter(~has_error)).height:
            listed_terms = ", ".join(without["term"].unique(maintain_order=True).head(5))
            warnings.append(
                f'"{name}": {count_text(without.height, "effect")} without an error (answers are all alike, or in one '
                f"cluster), left out: {listed_terms}{' …' if without['term'].n_unique() > 5 else ''}."
            )
        parts.append(effects.filter(has_error))
    cells = pl.concat(parts, how="diagonal_relaxed").join(
        _about(pl.concat([answers.trials for _, answers in read], how="diagonal_relaxed"), models),
        on="model", how="left", maintain_order="left",
    )  # fmt: skip
    if undated := cells.filter(pl.col("released").is_null())["model"].unique(maintain_order=True).to_list():
        warnings.append(
            f"No date of release: {', '.join(undated)}. They are in no trend; --models FILE names it "
            "(columns model, released, maker, generation)."
        )
    given = cells.select(*EFFECT, "model", "test", "estimate", "std_error", *_OF_MODEL)
    call = Call("meta_analysis", given, {"by": list(EFFECT), "alpha": alpha}, packages=("metafor",))
    of_models = cells.select("model", *_OF_MODEL).unique("model")
    table: pl.DataFrame = answered(call, answering).join(of_models, on="model", how="left", maintain_order="left")
    table = table.sort(*EFFECT, pl.col("row") != "cell", "released", maintain_order=True, nulls_last=True)
    said = Counter("|".join(table.unique(EFFECT, maintain_order=True)["messages"]).replace(" | ", "|").split("|"))
    del said[""]
    warnings += [f"{text} ({count_text(n, 'effect')})" if n > 1 else text for text, n in said.items()]
    return Atlas(table, list(_summary(table)), n_twice, warnings)


def _answers(path: Path, study: str | None, source: str | None) -> Iterator[tuple[str, MeasuredAnswers]]:
    names = study_names(path)
    if not names:
        raise no_trials_error(path)
    for each in loadable_studies([name for name in names if study in (None, name)], path):
        if can_pair(each):
            found = measured_answers(path, each, source)
            is_meant = pl.col("source").is_not_null() & (pl.col("source") != "human")
            is_meant &= ~pl.col("measure").is_in(list(OF_TRIALS)) & (pl.col("occasion") == 1)
            yield each.name, replace(found, rows=found.rows.filter(is_meant).drop_nulls("value"))


def _effects(study: str, first: MeasuredAnswers, rows: pl.DataFrame, workers: Workers) -> pl.DataFrame:
    """Return a row per model, variant, test, measure and effect of a level; of means where no level has one."""
    prompt = [name for name in dict.fromkeys((*PROMPT, *first.shown)) if name in rows.columns]
    keys = ["source", "variant", "model", "test", "measure"]
    means = rows.group_by(list(dict.fromkeys((*keys, *prompt))), maintain_order=True).agg(pl.col("value").mean())
    found: pl.DataFrame = answered(Call("level_effects", means, {"by": keys, **first.arguments}), workers)
    is_mean = pl.col("term") == "mean"
    has_effects = (~is_mean).any().over("variant", "measure")
    return found.filter(~is_mean | ~has_effects).with_columns(study=pl.lit(study))


def _about(trials: pl.DataFrame, models: str | Path | None) -> pl.DataFrame:
    """Return a row for each model: its date of release, maker and generation, by the file, else by its name."""
    told = {row["model"]: row for row in _told(Path(models))} if models is not None else {}
    rows = []
    for (model,), own in trials.group_by("model", maintain_order=True):
        names = [name for key in ("requested_model", "served_model", "model") for name in own[key].unique().sort()]
        known = [str(name).lower() for name in names if name]
        family = next((found for name in known if (found := _FAMILY.match(name.rsplit("/", 1)[-1]))), None)
        gateway = next((name.split("/")[-2] for name in known if "/" in name), None)
        mine = {
            "released": next(("-".join(day.groups()) for name in known if (day := _DAY.search(name))), None),
            "maker": _MAKERS.get(family[1], gateway) if family else gateway,
            "generation": " ".join(filter(None, family.groups())).replace("-", ".") if family else known[-1],
        }
        rows.append({"model": model, **mine, **{name: value for name, value in told.get(model, {}).items() if value}})
    schema = {"model": pl.String, "released": pl.String, "maker": pl.String, "generation": pl.String}
    return pl.DataFrame(rows, schema=schema)


def _told(file: Path) -> Iterator[dict[str, Any]]:
    for row in csv_rows(read_text(file), file.name, ("model",), _OF_MODEL):
        try:
            day = date.fromisoformat(row["released"]).isoformat() if row.get("released") else None
        except ValueError:
            raise UsageError(
                f'{file.name}: {row["model"]} was released on no date, "{row["released"]}".', "As in: 2024-05-13"
            ) from None
        yield {**row, "released": day}


def _summary(table: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for each trend: newer models of a family lean more, or less, or neither is shown."""
    means = {tuple(row[name] for name in EFFECT): row["estimate"] for row in table.filter(row="mean").to_dicts()}
    trends = table.filter(row="trend")
    unknown = trends.filter(pl.col("conf_low").is_null())
    if unknown.height > 1:
        few = sorted(unknown["n"])
        yield f"{unknown.height} trends have no interval, of {few[0]} to {few[-1]} makers: it takes five."
        trends = trends.filter(pl.col("conf_low").is_not_null())
    for row in trends.to_dicts():
        name = ", ".join(str(row[key]) for key in EFFECT[1:] if row[key] is not None)
        if row["conf_low"] is None:
            yield f"{name}: {row['estimate']:+.3g} a year, of {row['n']} makers: too few for an interval."
            continue
        mean = means[tuple(row[key] for key in EFFECT)]
        is_more = (row["estimate"] > 0) == (mean > 0)
        is_clear = row["conf_low"] > 0 or row["conf_high"] < 0
        verdict = ("lean more" if is_more else "lean less") if is_clear else "are not shown to lean more or less"
        yield (
            f"{name}: newer models of a family {verdict}: {row['estimate']:+.3g} a year "
            f"({row['conf_low']:.3g} to {row['conf_high']:.3g}), with a mean of {mean:.3g}."
        )
