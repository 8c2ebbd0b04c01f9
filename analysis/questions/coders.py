"""Measure how far coders of texts agree, and how often models err where people have coded a random sample: R's
agreement() and coder_errors(), on the codes of a coding study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import read_view
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.stored_attempts import with_attributes
from slant.collector.studies.catalogue import Study
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

BY = (*GRAIN, "coded_model", "coder", "code")
OF_DRIFT = (*GRAIN, "coder", "compared_with", "code")
LEVELS_OF_CODES = ("nominal", "ordinal", "interval")
_FEWEST = 5
Levels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Agreement:
    """Hold what `agreement()` found; each frame begins with source, study_version, variant.

    table: one row for all coders together ("all") and each pair of them, of all codes together (code: null) and each
    against the others, as R's agreement() describes them. errors: one row for each model, code, measure (sensitivity,
    false_positives) and level, as R's coder_errors() does; a row with a `reference` is a difference between levels.
    Empty where people have coded no random sample. confusion: how often people (rows) and each model give which code.
    drift: one row for each model, code and occasion of texts that were coded again, compared with the first occasion
    and with people (`compared_with`), as R's code_drift() describes them; empty where none were.
    warnings: what is doubtful, in sentences.
    """

    table: pl.DataFrame
    errors: pl.DataFrame
    confusion: pl.DataFrame
    drift: pl.DataFrame
    warnings: list[str]

    @property
    def differences(self) -> pl.DataFrame:
        """Return the differences of error rates between levels."""
        return self.errors.filter(pl.col("reference").is_not_null())


@checked_arguments()
@opens_once
def agreement(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    level: str = "nominal",
    draws: int = 1000,
    workers: Workers = None,
    executor: Executor | None = None,
) -> Agreement:
    """Compare the coders of a coding study: percent agreement, kappa, alpha and AC1 with bootstrap intervals over
    texts, and each model's sensitivity and false positives against people, with their differences between levels of
    what the study knows of its texts.

    `level` says what codes are: "nominal", or of a scale "ordinal" or "interval". `draws` are samples of texts for the
    intervals. `workers` and `executor` are as for `fit()`.

    Raise DatabaseError if no text has the codes of two coders, UsageError for a study that codes no texts.
    """
    chosen = study_in(db, study, lambda one: one.design.name == "coding", "codes texts")
    answering = executor or workers
    codes, pairs = _read(db, chosen, source)
    if codes.is_empty() or codes["coder"].n_unique() < 2:
        raise DatabaseError(
            f'No text of "{chosen.name}" has the codes of two coders in "{db}".',
            "Models code with collect --study …, people with collect view --code … or a sheet (collect sample).",
        )
    numbers = {"draws": draws, "by": list(GRAIN), "text": "item"}
    each, codes = codes, codes.drop("code", "given").unique(maintain_order=True)
    is_several = bool((codes["kind"] == "several").any())
    kind = pl.String if level == "nominal" else pl.Float64
    of_codes = codes.select(*GRAIN, "item", "coder", pl.col("coding").cast(kind))
    of_all = {**numbers, "level": level, "code": "coding", "each_code": level == "nominal" and not is_several}
    table: pl.DataFrame = answered(Call("agreement", of_codes, of_all), answering)
    if is_several:  # a text can have a code besides others
        given = each.select(*GRAIN, "code", "item", "coder", "given")
        of_each = answered(Call("agreement", given, {**numbers, "by": [*GRAIN, "code"], "code": "given"}), answering)
        table = table.select(*GRAIN, code=pl.lit(None, pl.String)).hstack(table.drop(GRAIN))
        table = pl.concat([table, of_each]).sort(GRAIN, maintain_order=True)
    are_human = pl.all_horizontal(pl.col("coder_1", "coder_2").is_in(codes.filter("is_human")["coder"].to_list()))
    table = table.with_columns(source=pl.when(are_human).then(pl.lit("human")).otherwise("source"))
    keys = [name for name in table.columns if name in (*GRAIN, "code", "coder_1", "coder_2")]
    table = table.unique(keys, keep="first", maintain_order=True)  # people stand next to models of every source
    levels = chosen.design.analyses.attributes(chosen.data)
    errors = _errors(pairs.filter(pl.col("kind") != "scale"), levels, chosen.data.cluster, answering)
    with reading(db) as connection:
        confusion = read_view(connection, "coding_confusion", study=chosen.name, source=source)
        other_versions = dict(
            connection.execute(sql_query("codes_of_other_versions"), {"study": chosen.name}).fetchall()
        )
        again = frame_of(connection.sql(sql_query("codes_again"), params={"study": chosen.name, "source": source}))
    drift = answered(Call("code_drift", again, {"by": list(OF_DRIFT)}), answering) if again.height else again
    warnings = [*_warnings(codes, pairs, errors, other_versions, levels), *_alarms(drift)]
    return Agreement(table, errors, confusion, drift, warnings)


def _read(db: str | Path, study: Study, source: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    values = {"study": study.name, "source": source}
    with reading(db) as connection:
        codes = frame_of(connection.sql(sql_query("coders_of_texts"), params=values))
        view = connection.sql(sql_query("coders_against_people"), params=values)
        spread, _ = with_attributes(view)
        pairs = frame_of(spread.project(", ".join(f'"{n}"' for n in spread.columns if n != "attributes")))
    return codes, pairs


def _errors(pairs: pl.DataFrame, levels: Levels, cluster: str, workers: Any) -> pl.DataFrame:
    if pairs.is_empty():
        texts = dict.fromkeys((*BY, "measure", "factor", "level", "reference"), pl.String())
        numbers = dict.fromkeys(("estimate", "conf_low", "conf_high"), pl.Float64())
        return pl.DataFrame(schema={**texts, **numbers, "n": pl.Int64()})
    compared = [name for name in (*levels, "condition") if name in pairs.columns and pairs[name].n_unique() > 1]
    arguments: dict[str, Any] = {
        "coder": "given", "attributes": compared or None, "probability": "probability", "by": list(BY),
        "levels": {name: list(levels[name]) for name in compared if name in levels} or None,
        "cluster": cluster or None,
    }  # fmt: skip
    table: pl.DataFrame = answered(
        Call("coder_errors", pairs, {name: value for name, value in arguments.items() if value is not None}), workers
    )
    return table


def _warnings(
    codes: pl.DataFrame, pairs: pl.DataFrame, errors: pl.DataFrame, other_versions: Mapping[str, int], known: Levels
) -> Iterator[str]:
    """Yield a sentence for each doubt: no random sample, codes of different codebooks, levels without people's codes,
    differences of errors."""
    by_people, by_models = codes.filter("is_person"), codes.filter(~pl.col("is_person"))
    if set(by_models["study_version"]) - set(by_people["study_version"]):
        other_versions = {**other_versions, **dict(by_people.group_by("study_version").len().iter_rows())}
    if other_versions:
        n = count_text(sum(other_versions.values()), "code")
        yield (
            f"People gave {n} by another version of the codebook or the text ({', '.join(other_versions)}): they are "
            "not compared with codes by this one. Have these texts coded again, or look at that one (--study-version)."
        )
    elif by_people.is_empty():
        yield "No person has coded any of these texts: agreement of models says nothing about truth."
    if by_people.height and pairs.is_empty():
        yield (
            "People's texts were not drawn at random (collect sample): error rates, and corrected estimates, can't be "
            "had from them. Agreement is of the texts that they chose."
        )
    for name, levels in known.items() if pairs.height else ():
        if name in pairs.columns and (unseen := [level for level in levels if level not in set(pairs[name])]):
            yield (
                f"People have coded no drawn text of {name} = {unseen[0]}: errors can't be compared with it. "
                f"Draw some: collect sample --by {name}"
            )
    differing = errors.filter(
        pl.col("reference").is_not_null(), (pl.col("conf_low") > 0) | (pl.col("conf_high") < 0), pl.col("n") >= _FEWEST
    )
    for row in differing.head(3).to_dicts():
        what = "the false-positive rate" if row["measure"] == "false_positives" else "sensitivity"
        more = "higher" if row["estimate"] > 0 else "lower"
        yield (
            f"{row['coder']}, {row['code']}: {what} is {abs(row['estimate']):.2f} {more} for {row['factor']} = "
            f"{row['level']} than for {row['reference']} ({row['conf_low']:.2f} to {row['conf_high']:.2f}): its codes "
            "taken as truth make a difference there that is none. Correct it: analyze --fit dsl"
        )
    if differing.height > 3:
        yield f"{count_text(differing.height - 3, 'more difference')} of this kind: --show differences"


def _alarms(drift: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for each series of codes that has drifted."""
    alarms = drift.filter("is_alarm") if drift.height else drift
    for row in alarms.unique(OF_DRIFT, keep="first", maintain_order=True).to_dicts():
        sides = {"first": "the first occasion", "people": "people"}
        cusum = max(row["cusum_falls"], row["cusum_rises"])
        moved = "fallen" if cusum == row["cusum_falls"] else "risen"
        yield (
            f"{row['coder']}, {row['code'] or 'all codes'}: agreement with {sides[row['compared_with']]} has {moved} "
            f"by occasion {row['occasion']} (CUSUM {cusum:.1f}, limit {row['decision_limit']:.1f}): it no longer codes "
            "as it did. Code all texts again, or analyse those before and after apart."
        )


def drift_sentence(drift: pl.DataFrame) -> str:
    """Return the sentence on the limit of the CUSUMs and the probability of a false alarm."""
    last = drift.sort("occasion").row(-1, named=True)
    n_series = drift.unique(OF_DRIFT).height
    return (
        f"{'' if drift['is_alarm'].any() else 'No coder has drifted. '}CUSUMs have the reference value k = "
        f"{last['reference']:g} and the limit h = {last['decision_limit']:.2f}: if nothing changes, any of {n_series} "
        f"series gives a false alarm by occasion {last['occasion']} with a probability of at most "
        f"{last['false_alarm']:.2g} (h is made for 24 occasions: 0.05)."
    )
