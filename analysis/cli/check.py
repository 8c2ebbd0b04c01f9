"""Show on one page what could be wrong with a study's results (`analyze check`)."""

from __future__ import annotations

from pathlib import Path

import click

from slant.analysis.cli.options import measure_option, option, registration_option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import ABOVE_0, BETWEEN_0_AND_1, FILE
from slant.collector.terminal import print_data, print_rows

EXAMPLES = """\b
Examples:
  analyze check
  analyze check --study NAME --out check.html
  analyze check --bound 0.2 --format csv > findings.csv
  analyze check --show influence --format csv > influence.csv
  analyze check --study interference --show left_out
  analyze check --registration rmiat.registration.json --show registration
"""
_OPTIONS = (
    measure_option,
    option("--bound", of=ABOVE_0, default=0.1, help="Smallest |d| that matters, for equivalence."),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="The significance level."),
    click.option(
        "--show", metavar="CHECK", help="Print the rows of this check instead of the page: residuals, left_out, …"
    ),
    click.option(
        "--out", type=FILE, metavar="FILE", help="Write the page to FILE.html or FILE.md instead of printing it."
    ),
    registration_option,
)


@result_command("check", epilog=EXAMPLES, options=_OPTIONS, refit=True)
def check_command(
    asked: Asked,
    measure: str | None,
    bound: float,
    alpha: float,
    show: str | None,
    out: Path | None,
    registration: Path | None,
) -> Answer | None:
    """Show what could be wrong with the results, on one page: verdicts first, each with its number.

    Mixed models: residuals and skew, influence of single prompts, variance by prompt and word, effects over
    other words and wordings, power, whether models have the bias at the same words, corrections
    for the number of tests, equivalence tests for the nulls, cut-off answers, order of options, refusals as missing not
    at random. Forced choices: order of options and blocks, missing answers and what they could hide, words and wordings
    that carry an effect, cells in which all answers are alike. Games: order of options, missing rounds, games cut
    short, games that decide an index, lengths. First of all: whether it was done as registered (`collect preregister`),
    or each deviation. Last: whether trials that were asked again (`collect --again`) gave the same.

    With --out, the path of the page is printed. CSV has one row per finding; JSON has findings, warnings and the rows
    of every check.
    """
    from slant.analysis.pages.check_page import as_json, as_rows, as_text, check_ending, write_page
    from slant.analysis.questions.checks.answer_findings import RETEST, SERVED, SERVERS
    from slant.analysis.questions.checks.check_calls import has_checks
    from slant.analysis.questions.checks.check_table import checks_of_study
    from slant.analysis.questions.checks.registration import REGISTRATION, registered_study
    from slant.analysis.questions.checks.study_checks import READ_ONLY, check, kept_rows
    from slant.collector.errors import RError, UnknownNameError, UsageError

    if out is not None:
        check_ending(out)
    chosen = asked.choose(has_checks, "has anything to check")
    commands = {known.check: known.kept_by for known in checks_of_study(chosen)}
    known = (*commands, RETEST, REGISTRATION, SERVERS, SERVED)
    if show is not None and show not in known:
        raise UnknownNameError("check", show, known)
    no_registration = ("No run here has a registration.", "To compare with a file: --registration FILE")
    if show == REGISTRATION and out is None:  # it uses no fit
        registered = registered_study(asked.db, chosen.name, registration)
        if registered is None:
            raise UsageError(*no_registration)
        return Answer(registered.deviations, exact=True)
    if show in READ_ONLY and out is None:  # nor do checks that only read
        kept = kept_rows(asked.db, chosen, asked.source)
        if show not in kept:
            raise UsageError(*_not_kept(show, commands[show], chosen.as_typed))
        return Answer(kept[show], exact=True)
    result = asked.compute(check, measure=measure, bound=bound, alpha=alpha, registration=registration)
    path = write_page(result, out, asked.workers) if out is not None else None
    asked.say_doubts()
    if path is not None:
        click.echo(path)
    if show is not None and show not in result.rows:
        if show == REGISTRATION:
            raise UsageError(*no_registration)
        if commands.get(show):
            raise UsageError(*_not_kept(show, commands[show], chosen.as_typed))
        if show in (SERVERS, SERVED):
            raise UsageError(f'The check "{show}" has nothing to show: one server answered, with that model.')
        if show == RETEST:
            raise UsageError("No trial here was repeated.", "To repeat some: collect … --again 200")
        raise RError(f'The check "{show}" failed, so it has no rows.', "The reason is above.")
    if show is not None:
        return Answer(result.rows[show], exact=True)
    if asked.output_format == "json":
        print_data(as_json(result))
    elif asked.output_format == "csv":
        print_rows(as_rows(result), "csv")
    elif path is None:
        click.echo(as_text(result))
    return None


def _not_kept(check: str, command: str, study: str) -> tuple[str, str]:
    return (
        f'The check "{check}" has nothing to show: it reads stored results of another command, which has not run yet.',
        f"To compute it: {command} --study {study}",
    )
