"""Findings about games alone: those that were cut short, those that decide an index, and the lengths of answers."""

from __future__ import annotations

import polars as pl

from slant.analysis.questions.checks.sentences import CheckRows, Context, Verdict, number
from slant.collector.terminal import count_text


def games_ended(rows: CheckRows, context: Context) -> Verdict:
    results = rows["games_ended"]
    models = results.unique(["model", "test"], keep="first", maintain_order=True)
    n, n_complete, n_open = (int(models[name].sum()) for name in ("n_games", "n_complete", "n_open"))
    details = [f"Can still be played on: {count_text(n_open, 'game')}; the same collect does."] if n_open else []
    if n - n_open == n_complete:
        verdict = f"No game of {n - n_open:,} was cut short."
        return Verdict("note" if n_open else "not found", verdict, tuple(details))
    for row in models.filter(pl.col("n_complete") + pl.col("n_open") < pl.col("n_games")).to_dicts():
        kinds = {"n_refused": "refused", "n_malformed": "malformed", "n_ended_otherwise": "otherwise"}
        reasons = ", ".join(f"{row[name]:,} {word}" for name, word in kinds.items() if row[name])
        model_rows = results.filter(pl.col("model") == row["model"]).to_dicts()
        indices = ", ".join(
            f"{row_of_index['index']} {number(row_of_index['estimate'], 3)} and "
            f"{number(row_of_index['estimate_all'], 3)}"
            for row_of_index in model_rows
        )
        details.append(
            f"{context.model(row)}: {row['n_games'] - row['n_complete'] - row['n_open']:,} of {row['n_games']:,} ended "
            f"early ({reasons}), in the middle at round {number(row['last_round'], 0)}; of complete games and of all: "
            f"{indices}."
        )
    return Verdict(
        "caution",
        f"{count_text(n - n_open - n_complete, 'game')} of {n - n_open:,} ended early and are left out of all indices.",
        tuple(details),
    )


def game_influence(rows: CheckRows, context: Context) -> Verdict:
    results = rows["game_influence"].drop_nulls("estimate")
    if results.is_empty():
        verdict = "There are too few complete games to leave one out."
        return Verdict("not checked", verdict)
    keys = ["model", "index"]
    cells = results.unique(keys).height
    changed = results.filter("changes_conclusion")
    most_influential = results.sort("cooks_distance", descending=True, nulls_last=True, maintain_order=True).to_dicts()[
        0
    ]
    details = [
        f"The largest Cook's distance: {number(most_influential['cooks_distance'])} "
        f"({context.model(most_influential)}, {most_influential['index']}, game "
        f"{_short(most_influential['left_out'])}); above 4 / number of games: "
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
        "Leaving out one game decides whether an index is above chance in "
        f"{changed.unique(keys).height or 'none'} of {cells} (an index of a model each).",
        tuple(details),
    )


def _short(game: str) -> str:
    """Return the beginning of a game's id, which is a hash; the rows have the whole."""
    return f"{game[:8]}…" if len(game) > 12 else game
