"""`analyze successor`: does a study come to the same with the next model?"""

from __future__ import annotations

from contextlib import ExitStack

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import BETWEEN_0_AND_1
from slant.collector.example_models import EXAMPLE_MODEL, SECOND_MODEL

_OLD, _NEW = (name.split("/")[-1] for name in (EXAMPLE_MODEL, SECOND_MODEL))
EXAMPLES = f"""\b
Examples:
  analyze successor {_OLD} {_NEW} --study rmiat
  analyze successor paper.zip new.duckdb --bound 0.2 --bound rate=0.05
  analyze successor old.duckdb:{_OLD} new.duckdb:{_NEW} --figure successor.svg
"""
_SHOWN = (
    "source", "old_model", "new_model", "variant", "test", "measure", "term", "old", "new", "difference", "conf_low",
    "conf_high", "bound", "verdict", "verdict_holm",
)  # fmt: skip
_OPTIONS = (
    click.argument("old"),
    click.argument("new"),
    option("--show", of=("effects", "unpaired"), default="effects", help="The table to print."),
    click.option(
        "--bound",
        multiple=True,
        metavar="[MEASURE=]NUMBER",
        help="The smallest difference that would matter: 0.2, rating=0.2, rate=0.05 (of answers and refusals). "
        "Repeatable. Default: half the smallest_effect of the study.",
    ),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="The level of the tests."),
)


@result_command("successor", epilog=EXAMPLES, options=_OPTIONS, figure="the old effects against the new ones")
def successor_command(asked: Asked, old: str, new: str, show: str, bound: tuple[str, ...], alpha: float) -> Answer:
    """Compare a model with its successor on the same prompts: each mean and effect of a level, and the rates of answers
    and refusals.

    OLD and NEW are databases, sealed archives, or models or runs of --db; FILE:MODEL is one model of a file. Each
    difference (new less old) has its 95 % interval and a verdict: "equivalent within the bound" (two one-sided tests),
    "differs by more than the bound" (its interval lies beyond it) or "not decided"; verdict_holm is the same after
    Holm's correction over all of them. The last lines are a paragraph for a paper.
    """
    from slant.analysis.archive.study_copy import database_of
    from slant.analysis.questions.successor import file_of_side, successor

    with ExitStack() as stack:
        files = [file_of_side(side, asked.db) for side in (old, new)]
        paths = [(stack.enter_context(database_of(file)), name) for file, name in files]
        sides = [f"{path}:{name}" if name else str(path) for path, name in paths]
        result = asked.compute(successor, work="Comparing in R", old=sides[0], new=sides[1], bound=bound, alpha=alpha)
    rows = result.table if show == "effects" else result.unpaired
    shown = [name for name in _SHOWN if name in rows.columns] if show == "effects" else rows.columns
    same = [
        name for name in ("old_model", "new_model", "variant", "test") if rows.height and rows[name].n_unique() == 1
    ]
    empty = [name for name in ("bound", "verdict", "verdict_holm") if name in rows and rows[name].is_null().all()]
    return Answer(
        rows, [name for name in shown if name not in (*same, *empty)], says=[result.summary, result.paragraph],
        figure=("plot_successor", result.table),
    )  # fmt: skip
