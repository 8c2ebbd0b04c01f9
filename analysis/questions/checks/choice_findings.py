"""Findings about choices between options, in forced choices and games: order, missing answers, what carries an effect,
separation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slant.analysis.questions.checks import sentences
from slant.analysis.questions.checks.sentences import CheckRows, Context, Verdict, count_of, number, percent
from slant.collector.terminal import count_text

_MISSING = {
    "n_refused": "refused",
    "n_filtered": "filtered",
    "n_truncated": "cut off",
    "n_malformed": "malformed",
    "n_rejected": "rejected",
}


def first_option(rows: CheckRows, context: Context) -> Verdict:
    results = rows["first_option"]
    testable = results.drop_nulls("p_value")
    if testable.is_empty():
        verdict = "In each cell the options have only one order, so its effect can't be estimated."
        has_expected = results.select(pl.any_horizontal(pl.col("^rate_expected_.*$").is_not_null()).any()).item()
        advice = () if has_expected else ('group_order = "shuffled" in the study file draws the order for each game.',)
        return Verdict("caution", verdict, advice)
    affected = testable.filter(pl.col("p_holm") < context.alpha)
    by_chance = percent(sentences.as_number(testable["chance"].mean()))
    details = [f"First options chosen: {sentences.spread(100 * testable['rate_first'], 1)} %, {by_chance} by chance."]
    if results.height > testable.height:
        details.append(
            f"Only one order, so its effect can't be estimated: {_untestable_cells(results, testable, context)}."
        )
    for row in affected.to_dicts():
        details.append(f"{context.in_condition(row)}: {_preference(row)} (p = {number(row['p_holm'], 4)}, Holm's).")
    return Verdict(
        "caution" if affected.height else "not found",
        f"The place of an option affects the choice in {count_of(affected.height, testable.height, 'cell')} "
        f"(p < {context.alpha:g}, corrected for their number).",
        tuple(details),
    )


def _preference(row: Mapping[str, Any]) -> str:
    if row["side_difference"] is None:
        return f"the first option is chosen in {percent(row['rate_first'])}, by chance in {percent(row['chance'])}"
    return (
        f"consistent in {percent(row['rate_expected_first'])} where that option is first, in "
        f"{percent(row['rate_expected_second'])} where it is second; the first option is chosen in "
        f"{percent(row['rate_first'])}"
    )


def order_effect(rows: CheckRows, context: Context) -> Verdict:
    return _order("order_effect", "order of options", rows, context)


def block_order(rows: CheckRows, context: Context) -> Verdict:
    return _order("block_order", "order of blocks", rows, context)


def _order(check: str, order: str, rows: CheckRows, context: Context) -> Verdict:
    results = rows[check]
    confounded = results.filter("is_confounded")
    separable = results.filter(~pl.col("is_confounded"))
    details = []
    if confounded.height:
        details.append(
            f"The {order} reveals the condition; its effect can't be estimated: {context.cells(confounded)}."
        )
    if separable.is_empty():
        verdict = f"The {order} tells the condition in {count_of(confounded.height, results.height, 'comparison')}."
        advice = "An even number of repetitions crosses blocks and their order: collect --repetitions 2"
        return Verdict("caution", verdict, (*details, *((advice,) if check == "block_order" else ())))
    changed = separable.filter("changes_conclusion")
    interacting = separable.filter(pl.col("p_holm") < context.alpha)
    details += [
        f"{context.in_condition(row)}: p = {number(row['p_value'], 4)} without it, "
        f"{number(row['p_ordered'], 4)} with it."
        for row in changed.to_dicts()
    ]
    if interacting.height:
        details.append(
            f"The effect differs with the {order} (corrected for the number of tests): {context.cells(interacting)}."
        )
    standing = "caution" if changed.height or interacting.height else "note" if confounded.height else "not found"
    return Verdict(
        standing,
        f"With the {order} in the model the conclusion changes in "
        f"{count_of(changed.height, separable.height, 'comparison')}, and the effect differs with it in "
        f"{interacting.height or 'none'}.",
        tuple(details),
    )


def missing_answers(rows: CheckRows, context: Context) -> Verdict:
    results = rows["missing_answers"]
    total, n_missing = int(results["n"].sum()), int(results["n_missing"].sum())
    details = []
    if "n_reminded" in results.columns and results["n_reminded"].null_count() < results.height:
        reminded = int(results["n_reminded"].sum())
        details.append(f"A reminder was needed in {count_text(reminded, 'round')} of {total:,}.")
    if not n_missing:
        verdict = f"No answer of {total:,} was refused, filtered, cut off, malformed or rejected."
        return Verdict("not found", verdict, tuple(details))
    kinds = ", ".join(f"{int(results[name].sum()):,} {word}" for name, word in _MISSING.items() if results[name].sum())
    details.insert(0, f"Missing: {n_missing:,} of {total:,} answers ({percent(n_missing / total)}): {kinds}.")
    groups = results.unique(["model", "test"], keep="first", maintain_order=True).drop_nulls("p_value")
    uneven = groups.filter(pl.col("p_holm") < context.alpha)
    for group in uneven.to_dicts():
        of_group = results.filter(model=group["model"], test=group["test"]).to_dicts()
        rates = ", ".join(f"{context.condition(row['condition'])} {percent(row['rate_missing'])}" for row in of_group)
        details.append(f"{context.cell(group)}: {rates} (p = {number(group['p_holm'], 4)}, Holm's).")
    if groups.is_empty():
        return Verdict(
            "note",
            f"{count_text(n_missing, 'answer')} of {total:,} are missing; there is one condition only.",
            tuple(details),
        )
    if uneven.is_empty():
        tested = count_text(groups.height, "cell")
        verdict = f"Answers are not missing significantly more often in one condition than in another ({tested} tested"
        return Verdict("not found", f"{verdict}, corrected for multiple testing).", tuple(details))
    return Verdict(
        "caution",
        f"Answers are missing more often in one condition than in another in "
        f"{count_of(uneven.height, groups.height, 'cell')} (p < {context.alpha:g}, corrected for multiple testing).",
        tuple(details),
    )


def missing_bounds(rows: CheckRows, context: Context) -> Verdict:
    results = rows["missing_bounds"].drop_nulls("delta_p")
    if results.is_empty():
        return Verdict("not checked", "No comparison has valid answers in both conditions.")
    with_missing = results.filter((pl.col("n_missing_reference") + pl.col("n_missing_other")) > 0)
    if with_missing.is_empty():
        return Verdict("not found", f"No answer is missing in {count_text(results.height, 'comparison')}.")
    is_clear = (pl.col("conf_low") > 0) | (pl.col("conf_high") < 0)
    uncertain = with_missing.filter(~pl.col("is_sign_kept_by_missing"))
    doubtful = uncertain.filter(is_clear)
    details = [
        f"{context.in_condition(row)}: ΔP = {number(row['delta_p'], 3)} of valid answers, between "
        f"{number(row['delta_p_lowest'], 3)} and {number(row['delta_p_highest'], 3)} for any value of the "
        f"{count_text(row['n_missing_reference'] + row['n_missing_other'], 'missing answer')} (with sampling error: "
        f"{number(row['bounds_conf_low'], 3)} to {number(row['bounds_conf_high'], 3)})."
        for row in uncertain.to_dicts()
    ]
    return Verdict(
        "caution" if doubtful.height else "note" if uncertain.height else "not found",
        "Missing answers could have changed the sign of "
        f"{count_of(uncertain.height, with_missing.height, 'difference')} with missing answers; "
        f"{doubtful.height or 'none'} of these {'differs' if doubtful.height == 1 else 'differ'} from 0 among valid "
        "answers.",
        tuple(details),
    )


def left_out(rows: CheckRows, context: Context) -> Verdict:
    results = rows["left_out"].drop_nulls("delta_p")
    keys = ["model", "test", "condition"]
    cells = results.unique(keys, maintain_order=True)
    clear_cells = cells.filter((pl.col("conf_low_all") > 0) | (pl.col("conf_high_all") < 0))
    carrying = results.filter("carries_effect")
    by_size = results.sort(pl.col("change").abs(), descending=True, nulls_last=True, maintain_order=True)
    details = [
        f"The largest change: ΔP = {number(row['delta_p_all'], 3)} becomes {number(row['delta_p'], 3)} without the "
        f"{row['part']} {row['left_out']} ({context.in_condition(row)})."
        for row in by_size.head(1).to_dicts()
    ]
    details += [
        f"{context.in_condition(row)}: ΔP = {number(row['delta_p_all'], 3)}, without the {row['part']} "
        f"{row['left_out']} {number(row['delta_p'], 3)}."
        for row in carrying.to_dicts()
    ]
    if clear_cells.is_empty():
        verdict = (
            f"None of {count_text(cells.height, 'difference')} is clearly above or below 0, so none can depend on "
            "a single word."
        )
        return Verdict("not found", verdict, tuple(details))
    n = carrying.unique(keys).height
    return Verdict(
        "caution" if n else "not found",
        "Without one word, wording or repetition less than half remains of "
        f"{count_of(n, clear_cells.height, 'difference')} (of those whose 95 % interval excludes 0).",
        tuple(details),
    )


def _untestable_cells(results: pl.DataFrame, testable: pl.DataFrame, context: Context) -> str:
    keys = ["model", "test", "condition"]
    return context.cells(results.join(testable.select(keys), on=keys, how="anti", maintain_order="left"))


def games_ended(rows: CheckRows, context: Context) -> Verdict:
    results = rows["games_ended"]
    models = results.unique(["model", "test"], keep="first", maintain_order=True)
    n, n_complete, n_open = (int(models[name].sum()) for name in ("n_games", "n_complete", "n_open"))
    details = [f"Can still be resumed: {count_text(n_open, 'game')}; repeat the command."] if n_open else []
    if n - n_open == n_complete:
        verdict = f"No game of {n - n_open:,} was cut short."
        return Verdict("note" if n_open else "not found", verdict, tuple(details))
    for row in models.filter(pl.col("n_complete") + pl.col("n_open") < pl.col("n_games")).to_dicts():
        kinds = {"n_refused": "refused", "n_malformed": "malformed", "n_ended_otherwise": "otherwise"}
        reasons = ", ".join(f"{row[name]:,} {word}" for name, word in kinds.items() if row[name])
        indices = ", ".join(
            f"{its['index']} {number(its['estimate'], 3)} and {number(its['estimate_all'], 3)}"
            for its in results.filter(model=row["model"]).to_dicts()
        )
        details.append(
            f"{context.model(row)}: {row['n_games'] - row['n_complete'] - row['n_open']:,} of {row['n_games']:,} ended "
            f"early ({reasons}), in the middle at round {number(row['last_round'], 0)}; of complete games and of all: "
            f"{indices}."
        )
    return Verdict(
        "caution",
        f"{count_text(n - n_open - n_complete, 'game')} of {n - n_open:,} ended early and are excluded from all "
        "indices.",
        tuple(details),
    )


def game_influence(rows: CheckRows, context: Context) -> Verdict:
    results = rows["game_influence"].drop_nulls("estimate")
    if results.is_empty():
        return Verdict("not checked", "There are too few complete games to exclude one.")
    keys = ["model", "index"]
    cells = results.unique(keys).height
    changed = results.filter("changes_conclusion")
    top = results.sort("cooks_distance", descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    details = [
        f"The largest Cook's distance: {number(top['cooks_distance'])} ({context.model(top)}, {top['index']}, game "
        f"{_short(top['left_out'])}); above 4 / number of games: "
        f"{count_text(int(results['is_influential'].sum()), 'time')} of {results.height:,}.",
        *(
            f"{context.model(row)}, {row['index']}: {number(row['estimate_all'], 3)} (chance stays below "
            f"{number(row['random_high_all'], 3)}), without game {_short(row['left_out'])} "
            f"{number(row['estimate'], 3)} ({number(row['random_high'], 3)})."
            for row in changed.to_dicts()
        ),
    ]
    return Verdict(
        "caution" if changed.height else "not found",
        "Excluding one game decides whether an index is above chance in "
        f"{changed.unique(keys).height or 'none'} of {cells} (an index of a model each).",
        tuple(details),
    )


def _short(game: str) -> str:
    """Return the beginning of a game's id, which is a hash; the rows have the whole."""
    return f"{game[:8]}…" if len(game) > 12 else game
