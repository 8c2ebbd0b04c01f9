"""`analyze check`: one page on what the paper does not say and a reader should know."""

from __future__ import annotations

from pathlib import Path

import click

from slant.analysis.cli.study import meant, study_option
from slant.collector.commands.shown import shown_options
from slant.collector.terminal import db_option, print_rows, say

EXAMPLES = """\b
Examples:
  analyze check
  analyze check --study NAME --out check.html
  analyze check --bound 0.2 --csv > findings.csv
  analyze check --show influence --csv > influence.csv
  analyze check --study interference --show left_out
"""


@click.command(epilog=EXAMPLES)
@study_option
@click.option("--source", type=click.Choice(["collected", "imported", "simulated"]), help="Only rows of this source.")
@click.option(
    "--measure", type=click.Choice(["reasoning", "output", "recounted"]), help="Which tokens. Default: the study's."
)
@click.option("--bound", type=float, default=0.1, show_default=True, help="The smallest |d| that would matter.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
@click.option("--show", metavar="CHECK", help="Print the rows of one check instead: residuals, left_out, …")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the page: FILE.html or FILE.md.")
@click.option("--csv", "output_format", flag_value="csv", help="One row a finding (with --show: the check's rows).")
@click.option("--json", "output_format", flag_value="json", help="Findings, warnings and the rows of every check.")
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@click.option("--refit", is_flag=True, help="Fit again what is unchanged, too.")
@db_option
@shown_options
def check(
    study: str | None, source: str | None, measure: str | None, bound: float, alpha: float, show: str | None,
    out: Path | None, output_format: str | None, workers: int | None, refit: bool, db: Path,
) -> None:  # fmt: skip
    """What the paper does not say and a reader should know, on one page: verdicts first, each with its number.

    Mixed models: residuals and skew, influence of single prompts, variance by prompt and word, a random effect of the
    word, corrections for the number of tests, equivalence tests for the nulls, cut-off answers, order of options,
    refusals as missing not at random. Forced choices: order of options and blocks, missing answers and what they could
    hide, words and wordings that carry an effect, cells in which all answers are alike. Games: order of options,
    missing rounds, games cut short, games that decide an index, lengths. With --out: prints the path of the page.
    """
    from slant.analysis.cli.results import FitProgress
    from slant.analysis.pages.check_page import as_json, as_rows, as_text, check_ending, write_page
    from slant.analysis.questions.checks.checks import check as check_all
    from slant.analysis.questions.checks.checks import checks_of
    from slant.analysis.questions.checks.designs import has_checks
    from slant.collector.errors import RError, UnknownNameError

    if out is not None:
        check_ending(out)
    its = meant(db, study, has_checks, "has anything to check")
    if show is not None and show not in checks_of(its):
        raise UnknownNameError("check", show, checks_of(its))
    with FitProgress() as progress:
        found = check_all(db, its, source, measure, bound, alpha, workers, refit, progress)
        path = write_page(found, out, workers) if out is not None else None
    for warning in found.warnings:
        say(warning)
    if found.not_kept:
        say(f"The fits could not be kept. {found.not_kept}")
    if path is not None:
        click.echo(path)
    if show is not None and show not in found.rows:
        raise RError(f'The check "{show}" could not be made, so there are no rows of it to show.', "Why is said above.")
    if show is not None:
        print_rows(found.rows[show], output_format or "table")
    elif output_format == "json":
        click.echo(as_json(found))
    elif output_format == "csv":
        print_rows(as_rows(found), "csv")
    elif path is None:
        click.echo(as_text(found))
