"""`analyze topics search`: how many topics a topic model should have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import ONE_STUDY, chosen_study, result_options
from slant.analysis.cli.progress import FitProgress
from slant.analysis.questions.topics.search import STEPS, has_topic_model, search_topics
from slant.collector.commands.options import AT_LEAST_1, study_option
from slant.collector.terminal import SlantGroup, print_rows

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers


class NumberRange(click.ParamType[list[int]]):
    """3:10, or 3,4,6."""

    name = "numbers"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        if isinstance(value, list):
            return value
        first, colon, last = str(value).partition(":")
        try:
            numbers = list(range(int(first), int(last) + 1)) if colon else [int(part) for part in str(value).split(",")]
        except ValueError:
            numbers = []
        if not numbers or min(numbers) < 2 or max(numbers) > 200:
            self.fail(f"{value!r} is not a range such as 3:10 or a list such as 3,4,6 of numbers from 2 to 200.")
        return numbers


@click.group(
    cls=SlantGroup,
    epilog="\b\nExamples:\n  analyze --fit stm --show words\n  analyze topics search --topics 3:10",
)
def topics() -> None:
    """How many topics a topic model should have. To fit the model itself: analyze --fit stm."""


@topics.command(
    name="search",
    epilog="\b\nExamples:\n  analyze topics search --topics 3:10 && analyze figures search_k\n"
    "  analyze topics search --topics 3,4,6 --workers 1 --format csv",
)
@study_option(ONE_STUDY)
@click.option(
    "--topics",
    "numbers",
    type=NumberRange(),
    default="3:10",
    show_default=True,
    help="The numbers of topics to compare.",
)
@click.option("--max-steps", type=AT_LEAST_1, default=STEPS, show_default=True, help="The most EM steps of a fit.")
@click.option(
    "--preprocessing",
    type=click.Choice(["fast", "tm"]),
    help="How texts are cut into words: both give the same words, fast in less time.",
)
@result_options()
def search_command(
    study: str | None,
    source: str | None,
    numbers: list[int],
    max_steps: int,
    preprocessing: str | None,
    workers: Workers,
    db: Path,
    output_format: str,
) -> None:
    """Compare numbers of topics (stm's searchK), one number at a time on each core.

    Each result is kept as soon as it is there, so that the same command goes on where it was stopped.
    No number of topics is best in every respect; `analyze figures search_k` draws the measures.
    """
    settings = {"preprocessing": preprocessing} if preprocessing else None
    chosen = chosen_study(db, study, has_topic_model, "has a topic model")
    with FitProgress() as progress:
        rows = search_topics(
            db,
            chosen,
            numbers,
            source=source,
            workers=workers,
            max_em_its=max_steps,
            progress=progress,
            settings=settings,
        )
    print_rows(rows.drop("search_id"), output_format)
