"""Show forced-choice studies in a report: Table 3 with outcomes, then Tables 2 and 1 from kept fits, how good these
fits are (for any study with Bayesian models), and which words and prompt were asked. Nothing is fitted for it: what is
missing is named, with the command that makes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from slant.analysis.fitting.frames import ENGINE
from slant.analysis.pages.parts.records import CaptionedTable, Group, MissingResult, SectionData
from slant.analysis.pages.report_tables import text_table
from slant.collector.designs.forced_choice.words import ChoiceTest, ForcedChoiceData

_KINDS = {"population": "median word", "item_averaged": "averaged over the words"}
_COUNTED = ["n_refused", "n_filtered", "n_truncated", "n_malformed", "n_rejected"]
_KINDS_EXPLAINED = (
    "Two kinds of prediction are shown, which differ much near the ceiling. A median word is one "
    "whose random effects are 0, as in the paper. Averaged over the words is the mean over the study's words: "
    "compare this one with observed proportions. MDE (smallest detectable effect): the ΔP whose 95 % interval "
    "excludes 0 in 80 % of such studies, with posteriors as wide as this one."
)
_TABLE_1 = "Table 1. Interference: how much likelier a consistent answer is in the congruent condition"


def answers(section: SectionData) -> Group | None:
    """Show Table 3 and other counts."""
    table = _compliance(section)
    if table is None:
        return None
    caption = "Table 3. Observed compliance: valid answers, and kinds of other answers"
    tables = (
        CaptionedTable(caption, text_table(table), is_open=True),
        *section.captioned_tables("consistency_by_condition", "observed_delta_p", "consistency_by_tier"),
    )
    return Group("answers", "compliance and consistency as observed", tables=tables)


def stages(section: SectionData) -> Group | None:
    """Show Tables 2 and 1, coefficients, diagnostics, checks."""
    defined = [name for name, fit in section.study.fits.items() if fit.engine == ENGINE]
    if not defined:
        return None
    diagnostics = section.own("bayes_diagnostics")
    fitted = set(diagnostics["fit"]) if diagnostics.height else set()
    missing = [name for name in defined if name not in fitted]
    command = f"analyze --fit {ENGINE} --study {section.study.as_typed}"
    to_make = (MissingResult(f"Bayesian models: {', '.join(missing)}", command),) if missing else ()
    shaped: list[tuple[str, pl.DataFrame | None]] = [("Diagnostics of the chains", _diagnostics(diagnostics))]
    if not isinstance(section.study.data, ForcedChoiceData):
        names = ("bayes_predictions", "bayes_estimates", "bayes_checks")
        tables = (*_open_tables(shaped), *section.captioned_tables(*names))
        return Group("stages", "Bayesian models", _verdicts(diagnostics) if tables else (), tables, to_make)
    shaped += [
        ("Table 2. Predicted compliance, mean and 95 % credible interval", _predicted(section)),
        (_TABLE_1, _contrasts(section)),
        ("Spread of the words (standard deviation of their random intercepts, in log odds)", _spread(section)),
    ]
    tables = (*_open_tables(shaped), *section.captioned_tables("bayes_estimates", "bayes_checks"))
    texts = (*_verdicts(diagnostics), _KINDS_EXPLAINED) if tables else ()
    return Group("stages", "the two-stage Bayesian analysis", texts, tables, to_make)


def falsification(section: SectionData) -> Group | None:
    has_fits = any(fit.engine == ENGINE for fit in section.study.fits.values())
    if not (has_fits and isinstance(section.study.data, ForcedChoiceData)):
        return None
    frame = section.own("permutation_tests")
    if frame.is_empty():
        command = f"analyze permute --study {section.study.as_typed} --permutations 1000"
        return Group("permutations", "permutations", to_make=(MissingResult("Permutations", command),))
    text = (
        "The labels of the conditions were swapped at random within each word, and the model was refitted. "
        "Compare the observed difference with the null distribution and its centre, which is not 0."
    )
    comparison = CaptionedTable(
        "Observed difference and its null distribution", text_table(_permutations(frame)), is_open=True
    )
    tables = (comparison, *section.captioned_tables("permutation_tests"))
    return Group("permutations", "permutations", (text,), tables)


def order(section: SectionData) -> Group | None:
    tables = section.captioned_tables(
        "option_sides", "order_in_block", "block_order", "repetition_agreement", "missing_by_condition"
    )
    return Group("order", "sides, order and missing answers", tables=tables) if tables else None


def _open_tables(shaped: Sequence[tuple[str, pl.DataFrame | None]]) -> list[CaptionedTable]:
    return [CaptionedTable(caption, text_table(frame), is_open=True) for caption, frame in shaped if frame is not None]


def _verdicts(diagnostics: pl.DataFrame) -> tuple[str, ...]:
    return tuple(f"{row['fit']}: {row['verdict']}" for row in diagnostics.to_dicts())


def _compliance(section: SectionData) -> pl.DataFrame | None:
    valid, missing = section.own("compliance_by_condition"), section.own("missing_by_condition")
    if valid.is_empty() or missing.is_empty():
        return None
    keys = ["model", "test", "condition", "structured_output"]
    rows = valid.join(missing.select(*keys, *_COUNTED), on=keys, how="left", maintain_order="left")
    enforced_columns = ["structured_output"] if rows["structured_output"].any() else []
    return rows.select(
        *_cell_columns(section),
        *enforced_columns,
        pl.format("{} / {}", "n_valid", "n_trials").alias("valid / total"),
        _number("valid_percent", 1).alias("observed (%)"),
        pl.format("{} to {}", _number("conf_low_percent", 1), _number("conf_high_percent", 1)).alias("95 % (Wilson)"),
        *(pl.col(name).alias(name.removeprefix("n_")) for name in _COUNTED),
    )


def _predicted(section: SectionData) -> pl.DataFrame | None:
    rows = section.own("predicted_compliance")
    if rows.is_empty():
        return None
    middle, low, high = (100 * pl.col(name) for name in ("estimate", "conf_low", "conf_high"))
    cells = rows.with_columns(cell=_interval(middle, low, high, digits=1))
    keys = ["model_label", "test_label", "kind"]
    wide = cells.pivot("condition", index=keys, values="cell", maintain_order=True)
    headings = {condition: f"{condition} (%)" for condition in wide.columns if condition not in keys}
    return wide.select(*_label_columns(), *(pl.col(condition).alias(name) for condition, name in headings.items()))


def _contrasts(section: SectionData) -> pl.DataFrame | None:
    rows = section.own("condition_contrasts")
    if rows.is_empty():
        return None
    return rows.select(
        *_label_columns(),
        _interval("delta_p", "delta_p_conf_low", "delta_p_conf_high", digits=3).alias("ΔP"),
        _interval("s", "s_conf_low", "s_conf_high", digits=2).alias("S (log odds)"),
        _number("p_positive", 3).alias("P(ΔP > 0)"),
        _number("mde", 3).alias("MDE of ΔP"),
    )


def _spread(section: SectionData) -> pl.DataFrame | None:
    rows = section.own("bayes_estimates")
    rows = rows.filter(pl.col("term").str.starts_with("sd_")) if rows.height else rows
    if rows.is_empty():
        return None
    estimate = _interval("estimate", "conf_low", "conf_high", digits=2)
    group = pl.format("σ of {}", pl.col("term").str.strip_prefix("sd_"))
    return rows.select(pl.col("fit"), group.alias("what"), estimate.alias("mean, 95 % credible interval"))


def _diagnostics(rows: pl.DataFrame) -> pl.DataFrame | None:
    if rows.is_empty():
        return None
    return rows.select(
        "fit",
        pl.col("status"),
        _number("max_rhat", 3).alias("R̂ at most"),
        _number("min_ess_bulk", 0).alias("bulk ESS at least"),
        _number("min_ess_tail", 0).alias("tail ESS at least"),
        pl.col("n_divergent").alias("divergences"),
        pl.col("n_max_treedepth").alias("at maximal tree depth"),
        _number("min_ebfmi", 2).alias("E-BFMI at least"),
        pl.col("n_draws").alias("draws"),
        pl.format("{} (SE {})", _number("elpd_loo", 1), _number("se_elpd_loo", 1)).alias("LOO: elpd"),
        pl.col("n_bad_pareto_k").alias("Pareto k above 0.7"),
        pl.col("n").alias("rows"),
        "reference",
    )


def _permutations(frame: pl.DataFrame) -> pl.DataFrame:
    rows = frame.filter(pl.col("scale") == "delta_p", pl.col("kind") == "population")
    return rows.select(
        pl.col("model_label").alias("model"),
        pl.col("test_label").alias("test"),
        "engine",
        _number("observed", 3).alias("observed ΔP"),
        _number("null_mean", 3).alias("centre of the null"),
        pl.format("{} to {}", _number("null_low", 3), _number("null_high", 3)).alias("95 % of the null"),
        pl.format("{} [{}, {}]", _number("p_one_sided", 3), _number("p_low", 3), _number("p_high", 3)).alias(
            "p (one-sided), Monte Carlo interval"
        ),
        pl.col("n").alias("permutations"),
        pl.col("n_failed").alias("failed"),
    )


def _cell_columns(section: SectionData) -> list[pl.Expr]:
    labels = dict(section.labels)
    columns = [pl.col(name).replace(labels).alias(name) for name in ("model", "test")]
    return [*columns, pl.col("condition")]


def _label_columns() -> list[pl.Expr]:
    kind = pl.col("kind").replace(_KINDS)
    return [pl.col("model_label").alias("model"), pl.col("test_label").alias("test"), kind]


def _number(name: str | pl.Expr, digits: int) -> pl.Expr:
    """Return a number with this many decimals; nothing if there is no number."""
    column = pl.col(name) if isinstance(name, str) else name
    return column.map_elements(lambda value: f"{value:,.{digits}f}", return_dtype=pl.String).fill_null("")


def _interval(middle: str | pl.Expr, low: str | pl.Expr, high: str | pl.Expr, digits: int) -> pl.Expr:
    return pl.format("{} [{}, {}]", *(_number(number, digits) for number in (middle, low, high)))


_TIERS = {
    "published_same_iat": "published for this IAT",
    "published_other_iat": "published for another IAT",
    "our_extension": "our extension",
}


def stimuli(section: SectionData) -> Group | None:
    """Show the words and prompt of the current study; nothing if the answers are of another version."""
    data = section.study.data
    if not isinstance(data, ForcedChoiceData) or section.grain["study_version"] != section.study.version:
        return None
    words = pl.DataFrame([row for test in data.tests.values() for row in _word_rows(test)])
    tables = (
        CaptionedTable("Sources of the words", text_table(_tier_counts(data)), is_open=True),
        CaptionedTable(f"All {words.height} words", text_table(words)),
    )
    return Group(
        "stimuli",
        "words and prompt",
        (section.study.note,) if section.study.note else (),
        tables,
        quotes=tuple(text.replace("{{", "{").replace("}}", "}") for text in data.wordings.values()),
    )


def _word_rows(test: ChoiceTest) -> list[dict[str, str | None]]:
    return [
        {
            "test": test.label,
            "group": word.group,
            "word": word.word,
            "tier": word.tier,
            "source": word.provenance.get("source"),
        }
        for word in test.words
    ]


def _tier_counts(data: ForcedChoiceData) -> pl.DataFrame:
    rows = []
    for test in data.tests.values():
        tiers = Counter(word.tier or "not said" for word in test.words)
        rows += [{"test": test.label, "where from": _TIERS.get(tier, tier), "words": n} for tier, n in tiers.items()]
    return pl.DataFrame(rows)
