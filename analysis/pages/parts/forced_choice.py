"""Show forced-choice studies in a report: Table 3 with outcomes, then Tables 2 and 1 from kept fits, how good these
fits are (for any study with Bayesian models), and which words and prompt were asked. Nothing is fitted for it: what is
missing is named, with the command that makes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from slant.analysis.fitting.frames import ENGINE
from slant.analysis.pages.parts.records import CaptionedTable, Group, MissingResult, SectionData, declared_columns
from slant.collector.designs.forced_choice.words import ForcedChoiceData

_KINDS = {"population": "median word", "item_averaged": "averaged over the words"}
_COUNTED = ["n_refused", "n_filtered", "n_truncated", "n_malformed", "n_rejected"]
_MEAN = "{estimate:.%df} [{conf_low:.%df}, {conf_high:.%df}]"
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
        CaptionedTable.of(caption, table, is_open=True),
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
    shown = declared_columns(diagnostics, _DIAGNOSTICS) if diagnostics.height else None
    shaped = [("Diagnostics of the chains", shown)]
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
    rows = frame.filter(pl.col("scale") == "delta_p", pl.col("kind") == "population")
    caption = "Observed difference and its null distribution"
    comparison = CaptionedTable.of(caption, rows, _PERMUTATIONS, is_open=True)
    tables = (comparison, *section.captioned_tables("permutation_tests"))
    return Group("permutations", "permutations", (text,), tables)


def order(section: SectionData) -> Group | None:
    tables = section.captioned_tables(
        "option_sides", "order_in_block", "block_order", "repetition_agreement", "missing_by_condition"
    )
    return Group("order", "sides, order and missing answers", tables=tables) if tables else None


def _open_tables(shaped: Sequence[tuple[str, pl.DataFrame | None]]) -> list[CaptionedTable]:
    return [CaptionedTable.of(caption, frame, is_open=True) for caption, frame in shaped if frame is not None]


def _verdicts(diagnostics: pl.DataFrame) -> tuple[str, ...]:
    return tuple(f"{row['fit']}: {row['verdict']}" for row in diagnostics.to_dicts())


def _compliance(section: SectionData) -> pl.DataFrame | None:
    valid, missing = section.own("compliance_by_condition"), section.own("missing_by_condition")
    if valid.is_empty() or missing.is_empty():
        return None
    keys = ["model", "test", "condition", "structured_output"]
    rows = valid.join(missing.select(*keys, *_COUNTED), on=keys, how="left", maintain_order="left")
    labelled = rows.with_columns(pl.col("model", "test").replace(dict(section.labels)))
    shown = declared_columns(labelled, _COMPLIANCE)
    return shown if rows["structured_output"].any() else shown.drop("structured_output")


_COMPLIANCE = """
model | test | condition | structured_output | valid / total = {n_valid} / {n_trials} | observed (%) = valid_percent:.1f
95 % (Wilson) = {conf_low_percent:.1f} to {conf_high_percent:.1f} | refused = n_refused | filtered = n_filtered
truncated = n_truncated | malformed = n_malformed | rejected = n_rejected
"""
_CONTRASTS = """
model = model_label | test = test_label | kind | ΔP = {delta_p:.3f} [{delta_p_conf_low:.3f}, {delta_p_conf_high:.3f}]
S (log odds) = {s:.2f} [{s_conf_low:.2f}, {s_conf_high:.2f}] | P(ΔP > 0) = p_positive:.3f | MDE of ΔP = mde:.3f
"""
_DIAGNOSTICS = """
fit | status | R̂ at most = max_rhat:.3f | bulk ESS at least = min_ess_bulk:0f | tail ESS at least = min_ess_tail:0f
divergences = n_divergent | at maximal tree depth = n_max_treedepth | E-BFMI at least = min_ebfmi:.2f | draws = n_draws
LOO: elpd = {elpd_loo:.1f} (SE {se_elpd_loo:.1f}) | Pareto k above 0.7 = n_bad_pareto_k | rows = n | reference
"""
_PERMUTATIONS = """
model = model_label | test = test_label | engine | observed ΔP = observed:.3f | centre of the null = null_mean:.3f
95 % of the null = {null_low:.3f} to {null_high:.3f}
p (one-sided), Monte Carlo interval = {p_one_sided:.3f} [{p_low:.3f}, {p_high:.3f}]
permutations = n | failed = n_failed
"""


def _predicted(section: SectionData) -> pl.DataFrame | None:
    rows = section.own("predicted_compliance")
    if rows.is_empty():
        return None
    of_100 = rows.with_columns(pl.col("estimate", "conf_low", "conf_high") * 100, pl.col("kind").replace(_KINDS))
    columns = f"model = model_label | test = test_label | kind | condition | cell = {_MEAN % (1, 1, 1)}"
    cells = declared_columns(of_100, columns)
    wide = cells.pivot("condition", index=["model", "test", "kind"], values="cell", maintain_order=True)
    return wide.rename({condition: f"{condition} (%)" for condition in wide.columns[3:]})


def _contrasts(section: SectionData) -> pl.DataFrame | None:
    rows = section.own("condition_contrasts")
    if rows.is_empty():
        return None
    return declared_columns(rows.with_columns(pl.col("kind").replace(_KINDS)), _CONTRASTS)


def _spread(section: SectionData) -> pl.DataFrame | None:
    rows = section.own("bayes_estimates")
    rows = rows.filter(pl.col("term").str.starts_with("sd_")) if rows.height else rows
    if rows.is_empty():
        return None
    groups = rows.with_columns(group=pl.col("term").str.strip_prefix("sd_"))
    return declared_columns(groups, f"fit | what = σ of {{group}} | mean, 95 % credible interval = {_MEAN % (2, 2, 2)}")


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
    words = pl.DataFrame(
        [
            {"test": test.label, "group": w.group, "word": w.word, "tier": w.tier, "source": w.provenance.get("source")}
            for test in data.tests.values()
            for w in test.words
        ]
    )
    counts = []
    for test in data.tests.values():
        tiers = Counter(word.tier or "not said" for word in test.words)
        counts += [{"test": test.label, "where from": _TIERS.get(tier, tier), "words": n} for tier, n in tiers.items()]
    tables = (
        CaptionedTable.of("Sources of the words", pl.DataFrame(counts), is_open=True),
        CaptionedTable.of(f"All {words.height} words", words),
    )
    texts = (section.study.note,) if section.study.note else ()
    quotes = tuple(text.replace("{{", "{").replace("}}", "}") for text in data.wordings.values())
    return Group("stimuli", "words and prompt", texts, tables, quotes=quotes)
