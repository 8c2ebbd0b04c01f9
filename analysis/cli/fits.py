"""Make the fits, print a table of them, and say what is doubtful (`analyze --fit`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.cli.options import ENGINE_TABLES, FIT_TABLES, TOPIC_TABLES
from slant.analysis.cli.progress import FitProgress
from slant.analysis.cli.result_commands import print_result, say_result
from slant.analysis.fitting.corrections import CORRECTIONS, SHOWN, corrected_sentences, corrections_of
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fits import FitResult, fit, term_test_sentences
from slant.analysis.fitting.result_versions import version_sentence
from slant.analysis.pages.answers import answers_of_fit
from slant.analysis.paper.published import GRAIN, StudyViews
from slant.analysis.paper.topic_match import match_in_words, matched, missing_of_print, printed_topics
from slant.analysis.rows.result_warnings import grouped_doubts
from slant.analysis.rows.study_choice import find_fits, loadable_studies, studies_not_fitted, study_in
from slant.collector.errors import UsageError, as_typed
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.terminal import count_text, print_rows, say

_MOST_ANSWERED = 3
_DIGITS = 4  # in a terminal's table; CSV and JSON have all


def print_fit(
    engine: str, db: Path, study: str | None, show: str | None, adjust: str | None, output_format: str, **options: Any
) -> bool:
    """Fit, print the table `show`, and say what the fits are worth; return True if every fit failed."""
    if adjust is not None and show not in _ADJUSTED:  # before minutes are spent on a fit
        raise UsageError(
            f"The table {show or 'topics'} has no p values to adjust.",
            f"With --adjust, --show must be one of: {', '.join(_ADJUSTED)}",
        )
    if show is not None:
        fits = list(find_fits(engine, db, study))  # before minutes are spent on them
        own = {table for _, fit in fits for table in ENGINES[fit.engine].tables}
        known = [*FIT_TABLES, *sorted(own | ({"match"} if "topics" in own else set()))]
        if show not in known:
            names = ", ".join(dict.fromkeys(fit.name for _, fit in fits))
            raise UsageError(f'There is no table "{show}" of {names}.', f"There are: {', '.join(known)}.")
    result = _fits(engine, db, study, **options)
    if adjust is not None and _is_of_choices(result):
        raise UsageError(f"The contrasts of {result.engine} have no p value to adjust.", "Leave out --adjust.")
    if show is None and not corrections_of(result).is_empty():
        show = CORRECTIONS
    has_topics = not result.topics["models"].is_empty()
    if has_topics or adjust or (show in TOPIC_TABLES and show not in ENGINE_TABLES["brms"]):
        print_rows(topic_table(result, show or "topics", adjust, study, db), output_format)
        say_about_topics(result, db, study)
    else:
        rows = bayes_table(result, show or "table", in_full=output_format != "table")
        print_result(_in_reading_order(rows) if output_format == "table" else rows, output_format, digits=_DIGITS)
    told = (corrected_sentences(result, db), _answers(db, study, result), term_test_sentences(result), verdicts(result))
    for sentence in chain(*told):
        say(sentence)
    have_failed = bool((result.diagnostics["status"] == "failed").all())
    if output_format == "table" and not have_failed:
        of_study = f" --study {as_typed(study)}" if study else ""
        say(f"Next: analyze report{of_study} --db {as_typed(db)}")
    return have_failed


def _answers(db: Path, study: str | None, result: FitResult) -> Iterator[str]:
    """Yield the answer of the first of these fits, for each source, version and variant if these are few."""
    grains = result.table.select("study", "fit", *GRAIN).unique(["study", *GRAIN], keep="first", maintain_order=True)
    if grains.height > _MOST_ANSWERED:
        return
    told = [name for name in GRAIN if grains[name].n_unique() > 1]
    for grain in grains.to_dicts():
        where = f"{', '.join(grain[name] for name in told)}: " if told else ""
        own = {name: grain[name] for name in GRAIN}
        for sentence in answers_of_fit(study_in(db, study or grain["study"]), grain["fit"], result, own):
            yield f"{where}{sentence}"


def _in_reading_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Return an estimate, its interval, its p, and then their basis."""
    if not {"estimate", "conf_low", "conf_high"} <= set(rows.columns):
        return rows
    read = [name for name in ("estimate", "conf_low", "conf_high", "p_value") if name in rows.columns]
    before = rows.columns[: rows.columns.index("estimate")]
    return rows.select(*before, *read, *(name for name in rows.columns if name not in (*before, *read)))


def _fits(engine: str, db: Path, study: str | None, **options: Any) -> FitResult:
    """Fit, and say on stderr how many fits are ok and what is doubtful about the others."""
    with FitProgress() as progress:
        result = fit(db, study, engine, progress=progress, **options)
    counts = Counter(result.diagnostics["status"].to_list())
    statuses = ", ".join(f"{n} {status}" for status, n in counts.most_common())
    say(f"{count_text(result.diagnostics.height, 'fit')}: {statuses}.")
    for doubt in grouped_doubts([result.diagnostics]):
        say(str(doubt))
    for note in studies_not_fitted(engine, db) if study is None else ():
        say(note)
    if versions := version_sentence(result):
        say(versions)
    say_result(result)
    return result


_ADJUSTED = ("contrasts", "correlations")
_KEY = [*GRAIN, "refusals_removed", "fit"]


def topic_table(result: FitResult, show: str, adjust: str | None, study: str | None, db: Path) -> pl.DataFrame:
    """Return the table `show` (of TOPIC_TABLES or of every fit), with p adjusted as requested ("none": no
    adjustment)."""
    if show == "topics":
        is_first = (pl.col("kind") == "frex") & (pl.col("place") <= 7)
        words = result.topics["words"].filter(is_first).sort("place", maintain_order=True)
        frex_words = words.group_by([*_KEY, "topic"], maintain_order=True).agg(
            pl.col("word").str.join(", ").alias("frex_words")
        )
        topics = result.topics["topics"].join(frex_words, on=[*_KEY, "topic"], how="left", maintain_order="left")
        return topics.select(pl.exclude("fit"), "fit")
    if show == "match":
        return _matches(result, study, db)
    if show not in result.topics:
        table: pl.DataFrame = getattr(result, show)
        return table
    return _adjusted(result.topics[show], adjust) if show in _ADJUSTED else result.topics[show]


def say_about_topics(result: FitResult, db: Path, study: str | None) -> None:
    """Say whether the fit can be the paper's own, and how well its topics match the printed ones."""
    for row in result.topics["models"].filter(~pl.col("is_converged")).to_dicts():
        say(f"Not converged after {row['n_steps']} steps, the maximum that the study allows; the fit is stored anyway.")
    for name in result.diagnostics["study"].unique(maintain_order=True):
        definition = _study(name, study, db)
        if definition is None or not printed_topics(definition):
            continue
        fitted = result.topics["models"].select(GRAIN).unique(maintain_order=True)
        for row in fitted.join(missing_of_print(StudyViews(db, definition)), on=GRAIN, how="inner").to_dicts():
            if row["missing"] and row["source"] != "simulated":
                say(
                    f"This can't be the paper's own fit ({row['source']}), because texts are missing: {row['missing']}."
                )
    for grain, match in _matches(result, study, db).group_by(GRAIN, maintain_order=True):
        if grain[0] == "simulated":
            say("Simulated answers reason in a few fixed sentences: their topics say nothing about models.")
            continue
        say(f"{match_in_words(match)} ({grain[0]})")


def _study(name: str, requested: str | None, db: Path) -> Study | None:
    """Return the study of this name, if its text is here."""
    if requested is not None and (study := load_study(requested, db=db)).name == name:
        return study
    return next(iter(loadable_studies([name], db)), None)


def _matches(result: FitResult, study: str | None, db: Path) -> pl.DataFrame:
    """Return printed topics next to the fitted ones; no rows for a study that prints none."""
    parts = []
    for grain, words in result.topics["words"].group_by(["study", *_KEY], maintain_order=True):
        definition = _study(str(grain[0]), study, db)
        if definition is not None and (printed := printed_topics(definition)):
            key = [pl.lit(value).alias(name) for name, value in zip(["study", *_KEY], grain, strict=True)]
            match = matched(words, printed)
            parts.append(match.select(*key[1:4], key[0], *match.columns, key[-1]))
    return (
        pl.concat(parts) if parts else pl.DataFrame(schema=dict.fromkeys([*GRAIN, "study", "paper_topic"], pl.String))
    )


def _adjusted(rows: pl.DataFrame, adjust: str | None) -> pl.DataFrame:
    column = {"holm": "p_holm", "BH": "p_bh"}.get(adjust or "none")
    if column is None:
        return rows.drop("p_holm", "p_bh")
    adjusted = rows.with_columns(pl.col(column).alias("p_adjusted"), pl.lit(adjust).alias("adjusted_by"))
    at = rows.columns.index("p_value") + 1
    before, after = rows.columns[:at], [name for name in rows.columns[at:] if name not in ("p_holm", "p_bh")]
    return adjusted.select(*before, "p_adjusted", "adjusted_by", *after)


_ENGINES = ("brms", "lme4")
_OF_TOKENS = ("refusals_removed", "measure")  # choices between two options do not depend on these
_OF_LINEAR_MODELS = ("df", "statistic", "p_value")
_OF_FITS = ("status", "n_missing", "n_groups", "messages", "versions", "seconds")


def is_bayesian(result: FitResult) -> bool:
    return not result.bayes["models"].is_empty()


def bayes_table(result: FitResult, show: str, in_full: bool) -> pl.DataFrame:
    """Return the table `show`, of ENGINE_TABLES or of every fit.

    A verdict is a long sentence: unless `in_full`, `is_converged` replaces it, except in the diagnostics. UsageError if
    no fit of this result has such a table.
    """
    if any(show in tables for tables in ENGINE_TABLES.values()):
        frames = [result.tables[engine].get(show) for engine in ENGINE_TABLES]
        nonempty = [frame for frame in frames if frame is not None and not frame.is_empty()]
        if not nonempty:
            names = ", ".join(result.diagnostics["fit"].unique(maintain_order=True))
            needs = "A contrast needs answers in two conditions." if show == "contrasts" else "These rows have none."
            raise UsageError(f'The table "{show}" of {names} is empty.', needs)
        frame = nonempty[0]
        if show == CORRECTIONS and not in_full:
            frame = frame.select(SHOWN)
    elif show == "diagnostics" and is_bayesian(result):
        frame = _diagnostics(result)
    else:
        frame = getattr(result, show)
    if not is_bayesian(result):
        return frame.drop(_OF_TOKENS if _is_of_choices(result) else [], strict=False)
    of_tokens = _OF_TOKENS if result.bayes["effects"].is_empty() else ()
    unneeded = [*of_tokens, *(_OF_LINEAR_MODELS if show == "table" else ())]
    has_verdict = in_full or show == "diagnostics"
    return frame.drop(unneeded, strict=False).drop([] if has_verdict else ["verdict"], strict=False)


def _is_of_choices(result: FitResult) -> bool:
    return any(not result.tables[engine]["contrasts"].is_empty() for engine in _ENGINES)


def verdicts(result: FitResult) -> Iterator[str]:
    """Yield the verdict on the chains of each fit that converged; the others are among the doubtful fits."""
    for row in result.bayes["models"].filter(pl.col("is_converged")).to_dicts():
        yield f"{row['fit']} ({row['source']}): {row['verdict']}"


def _diagnostics(result: FitResult) -> pl.DataFrame:
    """Return a row per fit, including failed ones: its sampling, and the columns that every fit has."""
    key = ["source", "study", "study_version", "variant", "model", "test", "fit"]
    sampled = result.bayes["models"]
    general = result.diagnostics.select(*key, *_OF_FITS)
    joined = general.join(sampled, on=key, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(pl.exclude("fit", *_OF_TOKENS), "fit")
