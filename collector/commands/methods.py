"""Write for a paper and a registry: what to write about a run, and the command that repeats it (`collect methods`);
what is fixed before the data, as one text and its hash (`collect preregister`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from slant.collector.commands import options
from slant.collector.errors import UsageError, as_typed
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.screen_tables import in_one_line
from slant.collector.system.scratch import write_whole_file
from slant.collector.terminal import print_data, printable, say

_EXAMPLES = """\b
Examples:
  collect methods
  collect methods 20261121T134405Z-rmiat-3f9a1c --db other.duckdb
  collect methods --study rmiat                                    the study's last run
  collect methods --checklist guide-llm --out checklist.html       opens in a word processor
  collect methods --bibtex > references.bib
"""


@click.command("methods", epilog=_EXAMPLES)
@click.argument("run", default="latest")
@click.option("--checklist", metavar="NAME", help="Print this reporting checklist, filled in: guide-llm (GUIDE-LLM).")
@click.option("--out", type=options.FILE, metavar="FILE", help="Write the checklist to FILE.md or FILE.html instead.")
@click.option("--bibtex", "is_bibtex", is_flag=True, help="Print references: the paper, R and its packages, slant.")
@options.study_option("Its last run, instead of RUN.")
@options.db_option
@options.verbose_option
def methods_command(
    run: str, checklist: str | None, out: Path | None, is_bibtex: bool, study: str | None, db: Path
) -> None:
    """Print a paragraph for a paper's methods section about RUN (an id, or "latest"), and how to run it again.

    Everything in it comes from the database; what was not recorded is left out. A checklist says TO FILL where only
    the authors know.
    """
    if out is not None and checklist is None:
        raise UsageError("--out needs a checklist: --checklist guide-llm")
    if checklist is not None and is_bibtex:
        raise UsageError("Choose either --checklist or --bibtex, not both.")
    if study is not None:
        if run != "latest":
            raise UsageError("Choose either a run or --study, not both.")
        from slant.collector.provenance.run_history import latest_run_of

        run = latest_run_of(db, study)
    if checklist is not None:
        _checklist(db, run, checklist, out)
    elif is_bibtex:
        from slant.collector.provenance.bibtex import bibliography
        from slant.collector.provenance.run_history import read_run_history

        cited = bibliography(db, read_run_history(db, run))
        print_data("\n\n".join(cited.entries))
        for note in cited.notes:
            say(note)
    else:
        _paragraph(db, run)


def _checklist(db: Path, run: str, name: str, out: Path | None) -> None:
    from slant.collector.provenance.checklist import check_ending, filled_checklist, rendered

    ending = ".md" if out is None else check_ending(out)
    text = rendered(filled_checklist(db, run, name), ending)
    if out is None:
        print_data(text, nl=False)
        return
    try:
        write_whole_file(out, text.encode())
    except OSError as error:
        raise UsageError(f'Can\'t write the checklist to "{out}": {error.strerror}.', "Name another.") from None
    click.echo(out)


def _paragraph(db: Path, run: str) -> None:
    from slant.collector.keep.journal_loader import waiting_bytes
    from slant.collector.provenance.methods import command_line, paragraph, references, stored_estimands
    from slant.collector.provenance.run_history import read_run_history

    history = read_run_history(db, run)
    if waiting := waiting_bytes(db):
        hint = f"To load them: collect load --db {as_typed(db)}"
        say(f"{waiting:,} bytes of answers in the journal are not included here. {hint}")
    click.echo(in_one_line(paragraph(history)))
    if estimands := stored_estimands(db, history.run):
        click.echo(f"\n{printable(estimands)}")
    click.echo("\nTo cite (as BibTeX: --bibtex):")
    for reference in references(history):
        click.echo(f"  {printable(reference)}")
    command = command_line(history, db)
    if command is None:
        say("\nImported answers are made again from their files: collect import --help")
        return
    click.echo(f"\nTo ask the same again:\n  {printable(command)}")


_PREREGISTER_EXAMPLES = f"""\b
Examples:
  collect preregister --study rmiat --model {EXAMPLE_MODEL}
  collect preregister --study rmiat --model {EXAMPLE_MODEL} --eligible "openai/gpt-*" --rule "The next one that reasons"
  collect preregister --study ./mine/study.toml --from pilot.duckdb --look 1000 --exclude "Answers under 5 tokens"
  collect preregister --study ./mine/study.toml --until-width 10 --looks 4 --repetitions 12

Put the file, or its SHA-256, on a registry (OSF, AsPredicted) before anything is asked. Then collect with
--registration FILE: the run keeps it, and `analyze check` and the report say "as registered" or name each deviation.
"""
_analysis = options.section("Analysis and looks")
_later = options.section("Later models")


@click.command("preregister", epilog=_PREREGISTER_EXAMPLES)
@options.study_option(required=True)
@options.setting_option("models")
@options.setting_option("simulated", help="Register the simulated models, for a rehearsal.")
@click.option(
    "--variant", "variants", multiple=True, default=("base",), show_default=True, help="Repeatable. all: all."
)
@options.seed_option()
@options.setting_option("repetitions")
@_later(
    "--eligible", multiple=True, metavar="PATTERN", help="Pattern of eligible later models: openai/gpt-*. Repeatable."
)
@_later("--rule", default="", metavar="TEXT", help="Rule for eligible later models, in words.")
@_analysis("--fit", "fits", multiple=True, metavar="NAME", help="A confirmatory fit. Default: the study's.")
@_analysis(
    "--exclude", "exclusions", multiple=True, metavar="TEXT", help="Additional exclusions, on top of those of the fit."
)
@_analysis(
    "--look",
    "looks_at",
    multiple=True,
    type=options.AT_LEAST_1,
    metavar="TRIALS",
    help="Look after this many trials of a model.",
)
@_analysis(
    "--stop", "stopping_rule", metavar="TEXT", help="The stopping rule. Default: all planned trials are collected."
)
@options.setting_option("until_width", help="As in `collect`: collect until intervals are this narrow.")
@options.setting_option("looks")
@click.option(
    "--from", "pilot", type=options.FILE, metavar="FILE", help="A pilot's database: adds the numbers behind the plan."
)
@click.option("--out", type=options.FILE, metavar="FILE", help="Default: STUDY.registration.json")
@options.verbose_option
def preregister_command(study: str, models: tuple[str, ...], out: Path | None, **plan: Any) -> None:
    """Write what is fixed before the data: study, prompts, plan, models, exclusions, fits, looks, stopping rule.

    The file is canonical JSON (RFC 8785): the same plan gives the same bytes anywhere. Its SHA-256 is printed as by
    `sha256sum`. No model is asked, and no key is needed.
    """
    from slant.collector.registration.document import preregister, write_registration

    registration = preregister(study, models or None, **plan, say=say)
    path = write_registration(registration, out or Path(f"{registration.study}.registration.json"))
    click.echo(f"{registration.sha256}  {printable(path)}")
    then = f"collect --study {as_typed(study)} --registration {as_typed(path)} …"
    say(f"Upload it to a registry before you collect; then: {then}")
