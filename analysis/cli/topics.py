"""Find how many topics a topic model should have (`analyze topics search`)."""

from __future__ import annotations

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.questions.topics.topic_models import STEPS, has_topic_model, search_topics
from slant.collector.commands.options import AT_LEAST_1
from slant.collector.terminal import SlantGroup


class NumberRange(click.ParamType[list[int]]):
    """Take 3:10, or 3,4,6."""

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
    cls=SlantGroup, epilog="\b\nExamples:\n  analyze --fit stm --show words\n  analyze topics search --topics 3:10"
)
def topics() -> None:
    """Find how many topics a topic model should have. To fit the model itself: analyze --fit stm."""


_OPTIONS_OF_TOPICS = (
    option("--topics", "numbers", of=NumberRange(), default="3:10", help="The numbers of topics to compare."),
    option("--max-steps", of=AT_LEAST_1, default=STEPS, help="Maximum number of EM steps of a fit."),
    option(
        "--preprocessing",
        of=("fast", "tm"),
        help="How texts are split into words: both give the same words, fast is faster.",
    ),
)


@result_command(
    "search",
    command=topics.command,
    epilog="\b\nExamples:\n  analyze topics search --topics 3:10 && analyze figures search_k\n"
    "  analyze topics search --topics 3,4,6 --workers 1 --format csv",
    options=_OPTIONS_OF_TOPICS,
)
def search_command(asked: Asked, numbers: list[int], max_steps: int, preprocessing: str | None) -> Answer:
    """Compare numbers of topics (stm's searchK), one number at a time on each core.

    Each result is kept as soon as it is made, so that the same command goes on where it was stopped.
    No number of topics is best in every respect; `analyze figures search_k` draws the measures.
    """
    settings = {"preprocessing": preprocessing} if preprocessing else None
    asked.choose(has_topic_model, "has a topic model")
    rows = asked.compute(search_topics, numbers=numbers, max_em_its=max_steps, settings=settings)
    return Answer(rows.drop("search_id"), exact=True)
