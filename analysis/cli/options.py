"""Options that several commands of `analyze` share, each declared once; those of `collect`, too, are in
slant.collector.commands.options.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.collector.commands.options import AT_LEAST_1, rows_option
from slant.collector.terminal import say

if TYPE_CHECKING:
    from slant.collector.studies.catalogue import Study

ONE_STUDY = "Default: the one that the database holds."

FIT_TABLES = ("table", "diagnostics", "variances", "messages")
BAYES_TABLES = ("predictions", "contrasts", "checks", "loo")
TOPIC_TABLES = (
    "topics", "words", "match", "prevalence", "contrasts", "shifts", "correlations", "examples", "models",
)  # fmt: skip
"""What `--show` prints of every fit, of a Bayesian model, of a topic model."""

measure_option = rows_option(
    "--measure", type=click.Choice(["reasoning", "output", "recounted"]),
    help="The count that is analysed as tokens. Default: the study's.",
)  # fmt: skip
workers_option = click.option("--workers", type=AT_LEAST_1, help="R processes at once. Default: one a core.")
refit_option = click.option("--refit", is_flag=True, help="Compute again what is kept and unchanged.")


def chosen_study(
    db: Path, study: str | None, suits: Callable[[Study], bool] | None = None, description: str = ""
) -> Study:
    """`study_in`; says on stderr which study was chosen where the database holds others, too."""
    from slant.analysis.rows.study_choice import study_in, study_names

    chosen = study_in(db, study, suits, description)
    if study is None and (others := [name for name in study_names(db) if name != chosen.name]):
        say(f'This is about "{chosen.name}". The database also holds: {", ".join(others)} (--study NAME).')
    return chosen
