"""Write what is fixed before the data, as one text and its hash, for a registry (`collect preregister`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from slant.collector.commands.options import (
    AT_LEAST_1,
    FILE,
    section,
    seed_option,
    setting_option,
    study_option,
    verbose_option,
)
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.terminal import printable, say

_EXAMPLES = f"""\b
Examples:
  collect preregister --study rmiat --model {EXAMPLE_MODEL}
  collect preregister --study rmiat --model {EXAMPLE_MODEL} --eligible "openai/gpt-*" --rule "The next one that reasons"
  collect preregister --study ./mine/study.toml --from pilot.duckdb --look 1000 --exclude "Answers under 5 tokens"
  collect preregister --study ./mine/study.toml --until-width 10 --looks 4 --repetitions 12

Put the file, or its SHA-256, on a registry (OSF, AsPredicted) before anything is asked. Then collect with
--registration FILE: the run keeps it, and `analyze check` and the report say "as registered" or name each deviation.
"""
_analysis = section("Analysis and looks")
_later = section("Later models")


@click.command("preregister", epilog=_EXAMPLES)
@study_option(required=True)
@setting_option("models")
@setting_option("simulated", help="Register the simulated models, for a rehearsal.")
@click.option(
    "--variant", "variants", multiple=True, default=("base",), show_default=True, help="Repeatable. all: all."
)
@seed_option()
@setting_option("repetitions")
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
    type=AT_LEAST_1,
    metavar="TRIALS",
    help="Look after this many trials of a model.",
)
@_analysis(
    "--stop", "stopping_rule", metavar="TEXT", help="The stopping rule. Default: all planned trials are collected."
)
@setting_option("until_width", help="As in `collect`: collect until intervals are this narrow.")
@setting_option("looks")
@click.option(
    "--from", "pilot", type=FILE, metavar="FILE", help="A pilot's database: adds the numbers behind the plan."
)
@click.option("--out", type=FILE, metavar="FILE", help="Default: STUDY.registration.json")
@verbose_option
def preregister_command(study: str, models: tuple[str, ...], out: Path | None, **plan: Any) -> None:
    """Write what is fixed before the data: study, prompts, plan, models, exclusions, fits, looks, stopping rule.

    The file is canonical JSON (RFC 8785): the same plan gives the same bytes anywhere. Its SHA-256 is printed as by
    `sha256sum`. No model is asked, and no key is needed.
    """
    from slant.collector.registration.document import preregister, write_registration

    registration = preregister(study, models or None, **plan, say=say)
    path = write_registration(registration, out or Path(f"{registration.study}.registration.json"))
    click.echo(f"{registration.sha256}  {printable(path)}")
    say(f"Upload it to a registry before you collect; then: collect --study {study} --registration {path} …")
