"""Declare a command that computes a result: its name, its options, the question it asks, the rows it prints.

What they have in common is here, once: which rows of which study are read, where R runs, the line of progress, what a
terminal, CSV and JSON get, what is said about the result, and the figure. A command is its declaration and a function
that asks and returns an `Answer`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from slant.analysis.cli.options import ONE_STUDY, chosen_study, result_options
from slant.collector.commands.options import Decorator, study_option
from slant.collector.errors import UsageError
from slant.collector.terminal import print_rows, say

if TYPE_CHECKING:
    import polars as pl

    from slant.analysis.calls.executors import Workers
    from slant.collector.studies.catalogue import Study
from typing import Protocol

from slant.analysis.fitting.fits import ASKED_FOR
from slant.collector.commands.options import FILE


class Kept(Protocol):
    """Describe a result: `not_kept` says why it could not be written to the database; None if it was."""

    @property
    def not_kept(self) -> str | None: ...


def figure_option(content: str) -> Decorator:
    """Return `--figure FILE`, which also draws `content`. The file's name is checked before anything is computed."""
    about = f"Also draw {content}: FILE.svg or FILE.png."
    return click.option("--figure", type=FILE, metavar="FILE", callback=_checked_name, help=about)


def _checked_name(ctx: click.Context, parameter: click.Parameter, file: Path | None) -> Path | None:
    if file is not None:
        from slant.analysis.plots.drawing import check_figure_name

        check_figure_name(file)
    return file


def print_result(rows: Any, output_format: str, shown: Sequence[str] | None = None, digits: int = 3) -> None:
    """Print a result. CSV and JSON have all of a data frame; a terminal the columns `shown`, in three digits."""
    if output_format == "table" and shown is not None:
        rows = rows.select(shown)
    print_rows(rows, output_format, keep=ASKED_FOR, digits=digits)


def say_result(result: Kept) -> None:
    """Say its `warnings`, if any. What could not be kept is reported at the end of every command (AnalyzeGroup)."""
    for warning in getattr(result, "warnings", ()):
        say(warning)


_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass
class Asked:
    """Hold what every such command was typed with. `results` are those that were computed."""

    db: Path  # a command without --db asks only what needs none
    study: str | None
    source: str | None
    workers: Workers
    refit: bool
    output_format: str
    chosen: Study | None = None
    results: list[Any] = field(default_factory=list)

    @property
    def for_person(self) -> bool:
        return self.output_format == "table"

    def choose(self, suits: Callable[[Study], bool], description: str) -> Study:
        """Return the intended study, among those that suit; what follows is about it."""
        self.chosen = chosen_study(self.db, self.study, suits, description)
        return self.chosen

    def compute(self, question: Callable[..., _R], *, work: str = "Fitting in R", **settings: Any) -> _R:
        """Ask a question of Python's with these settings and the typed ones, under a line of progress."""
        from slant.analysis.cli.progress import FitProgress

        with FitProgress(work) as progress:
            typed = {
                "db": self.db, "study": self.chosen or self.study, "source": self.source, "workers": self.workers,
                "refit": self.refit, "progress": progress,
            }  # fmt: skip
            taken = inspect.signature(question).parameters
            result = question(**{name: value for name, value in typed.items() if name in taken} | settings)
        self.results.append(result)
        return result

    def say_doubts(self) -> None:
        """Say what is doubtful in the last result, once; it is the same for several."""
        for result in self.results[-1:]:
            say_result(result)
        self.results.clear()


@dataclass(frozen=True)
class Answer:
    """Hold what a command prints. `rows` are complete, for CSV and JSON; a terminal gets the columns `shown` of them,
    or these rows instead, in three digits unless they are `exact`. `says` follows the rows, then what is doubtful in
    the results (`warns_first`: before the rows). `figure`: the function of R that draws, and its rows.
    """

    rows: pl.DataFrame
    shown: Sequence[str] | pl.DataFrame | None = None
    says: Iterable[str] = ()
    figure: tuple[str, pl.DataFrame | Callable[[], pl.DataFrame]] | None = None
    exact: bool = False
    warns_first: bool = False
    exit_code: int = 0


def result_command(
    name: str,
    *,
    epilog: str,
    options: Sequence[Decorator] = (),
    study: str | None = ONE_STUDY,
    figure: str | None = None,
    refit: bool = False,
    usual_options: Sequence[Decorator] | None = None,
    command: Callable[..., Any] = click.command,
) -> Callable[[Callable[..., Answer | None]], click.Command]:
    """Return a decorator: a function of `Asked` and its own `options` becomes the command `name`.

    `study`: what leaving out --study means (None: there is no such option). `figure`: what --figure draws. `refit`:
    results are kept, and --refit computes them again. `usual_options`: instead of those of result_options(). A function
    that returns None has printed everything itself.
    """
    about = [study_option(study)] if study is not None else []
    drawn = [figure_option(figure)] if figure is not None else []
    usual = [result_options(refit=refit)] if usual_options is None else usual_options
    decorators = [command(name, epilog=epilog), *about, *options, *drawn, *usual]

    def decorate(function: Callable[..., Answer | None]) -> click.Command:
        @functools.wraps(function)
        def answered(**given: Any) -> None:
            typed = ("db", "study", "source", "workers", "refit", "output_format")
            asked = Asked(**{name: given.pop(name, False if name == "refit" else None) for name in typed})
            file = given.pop("figure", None)
            answer = function(asked, **given)
            if answer is not None:
                _print_answer(asked, answer, file)
            asked.say_doubts()

        made: Any = answered
        for decorator in reversed(decorators):
            made = decorator(made)
        return made  # type: ignore[no-any-return]

    return decorate


def _print_answer(asked: Asked, answer: Answer, figure: Path | None) -> None:
    if answer.warns_first:
        asked.say_doubts()
    of_terminal = answer.shown if asked.for_person else None
    columns = of_terminal if isinstance(of_terminal, list | tuple) else None
    rows = answer.rows if of_terminal is None or columns is not None else of_terminal
    if answer.exact:
        print_rows(rows, asked.output_format)
    else:
        print_result(rows, asked.output_format, columns)
    for sentence in answer.says:
        say(sentence)
    asked.say_doubts()
    if figure is not None and answer.figure is None:
        raise UsageError("This result has no figure, so --figure has nothing to draw.")
    if figure is not None and answer.figure is not None:
        from slant.analysis.plots.drawing import draw_into

        function, drawn = answer.figure
        say(draw_into(figure, function, drawn() if callable(drawn) else drawn, asked.workers or 1))
    if answer.exit_code:
        click.get_current_context().exit(answer.exit_code)
