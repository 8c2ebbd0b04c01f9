"""Findings about forced choices and games: order, missing answers, what carries an effect, separation, games."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from slant.analysis.questions.checks.sentences import Context, Finding, count_of, counted, number, percent, spread

Rows = Mapping[str, pl.DataFrame]
_MISSING = {"n_refused": "refused", "n_filtered": "filtered", "n_truncated": "cut off", "n_malformed": "malformed"}
_TREND = 0.3
_GROWTH = 1.2


def first_option(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["first_option"]
    known = found.drop_nulls("p_value")
    columns = (
        "condition",
        "n",
        "rate_first",
        "conf_low",
        "conf_high",
        "chance",
        "rate_expected_first",
        "rate_expected_second",
        "p_value",
        "p_holm",
    )
    if known.is_empty():
        said = "In each cell the options come in one order only, so that its effect can't be told."
        has_expected = found.select(pl.any_horizontal(pl.col("^rate_expected_.*$").is_not_null()).any()).item()
        mend = () if has_expected else ('group_order = "shuffled" in the study file draws the order for each game.',)
        return Finding("first_option", question, "caution", said, mend, columns)
    moved = known.filter(pl.col("p_holm") < context.alpha)
    details = [f"First options chosen: {_percents(known['rate_first'])}, {percent(_mean(known['chance']))} by chance."]
    if found.height > known.height:
        details.append(f"One order only, so that nothing can be told: {_in_cells(found, known, context)}.")
    for row in moved.to_dicts():
        details.append(f"{context.in_condition(row)}: {_preference(row)} (p = {number(row['p_holm'], 4)}, Holm's).")
    return Finding(
        "first_option",
        question,
        "caution" if moved.height else "holds",
        f"The place of an option has an effect on the choice in {count_of(moved.height, known.height, 'cell')} "
        f"(p < {context.alpha:g}, corrected for their number).",
        tuple(details),
        columns,
    )


def _preference(row: Mapping[str, object]) -> str:
    if row["side_difference"] is None:
        return f"the first option is chosen in {_percent(row['rate_first'])}, by chance in {_percent(row['chance'])}"
    return (
        f"consistent in {_percent(row['rate_expected_first'])} where that option is first, in "
        f"{_percent(row['rate_expected_second'])} where it is second; the first option is chosen in "
        f"{_percent(row['rate_first'])}"
    )


def order_effect(question: str, rows: Rows, context: Context) -> Finding:
    return _order("order_effect", "order of options", question, rows, context)


def block_order(question: str, rows: Rows, context: Context) -> Finding:
    return _order("block_order", "order of blocks", question, rows, context)


def _order(check: str, what: str, question: str, rows: Rows, context: Context) -> Finding:
    found = rows[check]
    columns = (
        "condition",
        "reference",
        "n",
        "association",
        "is_confounded",
        "estimate",
        "p_value",
        "estimate_ordered",
        "p_ordered",
        "estimate_order",
        "p_order",
        "p_interaction",
        "p_holm",
    )
    confounded = found.filter("is_confounded")
    apart = found.filter(~pl.col("is_confounded"))
    details = []
    if confounded.height:
        details.append(f"The {what} tells the condition, so that nothing can be told: {context.cells(confounded)}.")
    if apart.is_empty():
        said = f"The {what} tells the condition in {count_of(confounded.height, found.height, 'comparison')}."
        return Finding(check, question, "caution", said, (*details, *_to_cross(check)), columns)
    changed = apart.filter("changes_conclusion")
    crossed = apart.filter(pl.col("p_holm") < context.alpha)
    details += [
        f"{context.in_condition(row)}: p = {number(row['p_value'], 4)} without it, "
        f"{number(row['p_ordered'], 4)} with it."
        for row in changed.to_dicts()
    ]
    if crossed.height:
        details.append(
            f"The effect differs with the {what} (corrected for the number of tests): {context.cells(crossed)}."
        )
    standing = "caution" if changed.height or crossed.height else "note" if confounded.height else "holds"
    return Finding(
        check,
        question,
        standing,
        f"With the {what} in the model the conclusion changes in "
        f"{count_of(changed.height, apart.height, 'comparison')}, and the effect differs with it in "
        f"{crossed.height or 'none'}.",
        tuple(details),
        columns,
    )


def _to_cross(check: str) -> tuple[str, ...]:
    more = "An even number of repetitions crosses blocks and their order: collect --repeat 2"
    return (more,) if check == "block_order" else ()


def missing_answers(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["missing_answers"]
    columns = ("condition", "n", "n_missing", *_MISSING, "rate_missing", "n_reminded", "p_value", "p_holm")
    total, n_missing = int(found["n"].sum()), int(found["n_missing"].sum())
    if "n_reminded" in found.columns and found["n_reminded"].null_count() < found.height:
        reminded = int(found["n_reminded"].sum())
        details = [f"A reminder was needed in {counted(reminded, 'round')} of {total:,}."]
    else:
        details = []
    if not n_missing:
        said = f"Not one answer of {total:,} was refused, filtered, cut off or malformed."
        return Finding("missing_answers", question, "holds", said, tuple(details), columns)
    kinds = ", ".join(f"{int(found[name].sum()):,} {word}" for name, word in _MISSING.items() if found[name].sum())
    details.insert(0, f"Missing: {n_missing:,} of {total:,} answers ({percent(n_missing / total)}): {kinds}.")
    groups = found.unique(["model", "test"], keep="first", maintain_order=True).drop_nulls("p_value")
    uneven = groups.filter(pl.col("p_holm") < context.alpha)
    for group in uneven.to_dicts():
        its = found.filter((pl.col("model") == group["model"]) & (pl.col("test") == group["test"]))
        each = ", ".join(
            f"{context.condition(row['condition'])} {percent(row['rate_missing'])}" for row in its.to_dicts()
        )
        details.append(f"{context.cell(group)}: {each} (p = {number(group['p_holm'], 4)}, Holm's).")
    if groups.is_empty():
        return Finding(
            "missing_answers",
            question,
            "note",
            f"{counted(n_missing, 'answer')} of {total:,} are missing; there is one condition only.",
            tuple(details),
            columns,
        )
    return Finding(
        "missing_answers",
        question,
        "caution" if uneven.height else "note",
        "Answers are missing in one condition more than in another in "
        f"{count_of(uneven.height, groups.height, 'cell')} (p < {context.alpha:g}, corrected for "
        "their number).",
        tuple(details),
        columns,
    )


def missing_bounds(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["missing_bounds"].drop_nulls("delta_p")
    columns = (
        "condition",
        "reference",
        "n_missing_reference",
        "n_missing_other",
        "delta_p",
        "conf_low",
        "conf_high",
        "delta_p_all_true",
        "delta_p_all_false",
        "delta_p_lowest",
        "delta_p_highest",
    )
    if found.is_empty():
        said = "There is no comparison with valid answers in both conditions."
        return Finding("missing_bounds", question, "not checked", said)
    some = found.filter((pl.col("n_missing_reference") + pl.col("n_missing_other")) > 0)
    if some.is_empty():
        said = f"No answer is missing in {counted(found.height, 'comparison')}."
        return Finding("missing_bounds", question, "holds", said, (), columns)
    shown = (pl.col("conf_low") > 0) | (pl.col("conf_high") < 0)
    open_ = some.filter(~pl.col("is_sign_certain"))
    doubtful = open_.filter(shown)
    details = [
        f"{context.in_condition(row)}: ΔP = {number(row['delta_p'], 3)} of valid answers, between "
        f"{number(row['delta_p_lowest'], 3)} and {number(row['delta_p_highest'], 3)} whatever the "
        f"{counted(row['n_missing_reference'] + row['n_missing_other'], 'missing answer')} would have been."
        for row in open_.to_dicts()
    ]
    return Finding(
        "missing_bounds",
        question,
        "caution" if doubtful.height else "note" if open_.height else "holds",
        f"Missing answers could have made the sign of {count_of(open_.height, some.height, 'difference')} with missing "
        f"answers; {doubtful.height or 'none'} of these {'differs' if doubtful.height == 1 else 'differ'} from 0 among "
        "valid answers.",
        tuple(details),
        columns,
    )


def left_out(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["left_out"].drop_nulls("delta_p")
    columns = ("condition", "reference", "part", "left_out", "n_left_out", "delta_p_all", "delta_p", "change")
    keys = ["model", "test", "condition"]
    cells = found.unique(keys, maintain_order=True)
    shown = cells.filter((pl.col("conf_low_all") > 0) | (pl.col("conf_high_all") < 0))
    carrying = found.filter("carries_effect")
    most = found.sort(pl.col("change").abs(), descending=True, nulls_last=True, maintain_order=True).head(1).to_dicts()
    details = [
        f"The largest change: ΔP = {number(row['delta_p_all'], 3)} becomes {number(row['delta_p'], 3)} without the "
        f"{row['part']} {row['left_out']} ({context.in_condition(row)})."
        for row in most
    ]
    details += [
        f"{context.in_condition(row)}: ΔP = {number(row['delta_p_all'], 3)}, without the {row['part']} "
        f"{row['left_out']} {number(row['delta_p'], 3)}."
        for row in carrying.to_dicts()
    ]
    if shown.is_empty():
        said = f"None of {counted(cells.height, 'difference')} is clearly above or below 0, so that nothing carries it."
        return Finding("left_out", question, "holds", said, tuple(details), columns)
    n = carrying.unique(keys).height
    return Finding(
        "left_out",
        question,
        "caution" if n else "holds",
        f"Without one word, wording or repetition less than half is left of {count_of(n, shown.height, 'difference')} "
        "(of those whose 95 % interval leaves 0 out).",
        tuple(details),
        columns,
    )


def separation(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["separation"]
    alike = found.filter("is_separated")
    details = [
        f"{context.in_condition(row)}: all of {row['n']:,} alike ({percent(row['rate'], 0)}); the 95 % interval is "
        f"{percent(row['conf_low'])} to {percent(row['conf_high'])}."
        for row in alike.to_dicts()
    ]
    if alike.height:
        details.append(
            "There a logistic model has no finite estimate by likelihood, and a Bayesian one gives what its "
            "priors say: look at shares and their intervals."
        )
    return Finding(
        "separation",
        question,
        "caution" if alike.height else "holds",
        f"All valid answers are alike in {count_of(alike.height, found.height, 'cell')}.",
        tuple(details),
        ("condition", "n", "n_true", "rate", "conf_low", "conf_high"),
    )


def games_ended(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["games_ended"]
    models = found.unique(["model", "test"], keep="first", maintain_order=True)
    n, n_complete, n_open = (int(models[name].sum()) for name in ("n_games", "n_complete", "n_open"))
    columns = (
        "index",
        "n_games",
        "n_complete",
        "n_open",
        "n_refused",
        "n_malformed",
        "n_ended_otherwise",
        "last_round",
        "estimate",
        "estimate_all",
    )
    details = [f"Can still be played on: {counted(n_open, 'game')}; the same collect does."] if n_open else []
    if n - n_open == n_complete:
        said = f"No game of {n - n_open:,} was cut short."
        return Finding("games_ended", question, "note" if n_open else "holds", said, tuple(details), columns)
    for row in models.filter(pl.col("n_complete") + pl.col("n_open") < pl.col("n_games")).to_dicts():
        kinds = {"n_refused": "refused", "n_malformed": "malformed", "n_ended_otherwise": "otherwise"}
        said = ", ".join(f"{row[name]:,} {word}" for name, word in kinds.items() if row[name])
        its = found.filter(pl.col("model") == row["model"]).to_dicts()
        indices = ", ".join(
            f"{one['index']} {number(one['estimate'], 3)} and {number(one['estimate_all'], 3)}" for one in its
        )
        details.append(
            f"{context.model(row)}: {row['n_games'] - row['n_complete'] - row['n_open']:,} of {row['n_games']:,} ended "
            f"early ({said}), in the middle at round {number(row['last_round'], 0)}; of complete games and of all: "
            f"{indices}."
        )
    return Finding(
        "games_ended",
        question,
        "caution",
        f"{counted(n - n_open - n_complete, 'game')} of {n - n_open:,} ended early and are left out of all indices.",
        tuple(details),
        columns,
    )


def game_influence(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["game_influence"].drop_nulls("estimate")
    columns = (
        "index",
        "left_out",
        "n_games",
        "estimate_all",
        "estimate",
        "change",
        "cooks_distance",
        "random_high_all",
        "random_high",
    )
    if found.is_empty():
        said = "There are too few complete games to leave one out."
        return Finding("game_influence", question, "not checked", said)
    keys = ["model", "index"]
    cells = found.unique(keys).height
    changed = found.filter("changes_conclusion")
    most = found.sort("cooks_distance", descending=True, nulls_last=True, maintain_order=True).to_dicts()[0]
    details = [
        f"The largest Cook's distance: {number(most['cooks_distance'])} ({context.model(most)}, {most['index']}, game "
        f"{_short(most['left_out'])}); above 4 / number of games: "
        f"{counted(int(found['is_influential'].sum()), 'time')} of {found.height:,}.",
        *(
            f"{context.model(row)}, {row['index']}: {number(row['estimate_all'], 3)} (chance stays below "
            f"{number(row['random_high_all'], 3)}), without game {_short(row['left_out'])} "
            f"{number(row['estimate'], 3)} ({number(row['random_high'], 3)})."
            for row in changed.to_dicts()
        ),
    ]
    return Finding(
        "game_influence",
        question,
        "caution" if changed.height else "holds",
        "Leaving out one game decides whether an index is above chance in "
        f"{changed.unique(keys).height or 'none'} of {cells} (an index of a model each).",
        tuple(details),
        columns,
    )


def answer_lengths(question: str, rows: Rows, context: Context) -> Finding:
    found = rows["answer_lengths"]
    models = found.unique(["model", "test"], keep="first", maintain_order=True)
    ratio = pl.col("last_quarter") / pl.col("first_quarter")
    steep = models.filter((pl.col("trend").abs() >= _TREND) & ~ratio.is_between(1 / _GROWTH, _GROWTH))
    details = [f"Tokens of an answer, by model and class: {spread(found['median_length'], 0)}."]
    details += [
        f"{context.model(row)}: from {number(row['first_quarter'], 0)} tokens in the first quarter of the rounds to "
        f"{number(row['last_quarter'], 0)} in the last (rank correlation {number(row['trend'])})."
        for row in steep.to_dicts()
    ]
    return Finding(
        "answer_lengths",
        question,
        "caution" if steep.height else "holds",
        f"Answers grow or shrink along the rounds (by more than a fifth, rank correlation beyond ±{_TREND:g}) in "
        f"{count_of(steep.height, models.height, 'model')}.",
        tuple(details),
        ("condition", "n", "median_length", "mean_length", "largest", "first_quarter", "last_quarter", "trend"),
    )


def _short(game: str) -> str:
    """The beginning of a game's id, which is a hash; the rows have the whole."""
    return f"{game[:8]}…" if len(game) > 12 else game


def _in_cells(found: pl.DataFrame, known: pl.DataFrame, context: Context) -> str:
    keys = ["model", "test", "condition"]
    return context.cells(found.join(known.select(keys), on=keys, how="anti", maintain_order="left"))


def _percents(shares: pl.Series) -> str:
    return f"{spread(100 * shares, 1)} %"


def _percent(share: object) -> str:
    return percent(None if share is None else float(str(share)))


def _mean(values: pl.Series) -> float | None:
    mean = values.mean()
    return None if mean is None else float(str(mean))
