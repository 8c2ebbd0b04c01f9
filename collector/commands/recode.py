"""Let a model code answers that a rule left undecided, as a second coding (`collect recode`)."""

from __future__ import annotations

from pathlib import Path

import click

from slant.collector.commands.options import FOLDER, WholeNumber, db_option, setting_option, study_option
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.terminal import say

_EXAMPLES = f"""\b
Examples:
  collect recode --study decision --model {EXAMPLE_MODEL} --dry-run
  collect recode --study decision --model {EXAMPLE_MODEL} --budget 2
  collect recode --study decision --variant chained --simulated
  analyze tables coding_agreement

Further options are those of `collect`: --model, --budget, --yes, --pilot, --batch, --repetitions and others.
"""


@click.command(
    "recode",
    epilog=_EXAMPLES,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@study_option(required=True)
@setting_option("variant")
@click.option(
    "--decided",
    "n_decided",
    type=WholeNumber(),
    default=100,
    show_default=True,
    help="How many decided answers of each model to code as well, to measure agreement.",
)
@click.option("--folder", type=FOLDER, help="Folder for its study. [default: next to the database]")
@click.option("--simulated", is_flag=True, help="Query a simulated provider instead, also about simulated answers.")
@db_option
@click.pass_context
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF COLLECT]…")
def recode_command(
    ctx: click.Context,
    study: str,
    variant: str,
    n_decided: int,
    folder: Path | None,
    simulated: bool,
    db: Path,
    more: tuple[str, ...],
) -> None:
    """Let a model code the answers of a study that a rule left undecided.

    Nothing that was coded before is changed: the answers to code become a separate study, which is asked and kept like
    every other (journal, budget, refusals; the same command goes on where it stopped). Its prompt is in the folder and
    may be edited. The view second_codings has both codings of each answer, coding_agreement Cohen's kappa.
    Answers of simulated models are coded with --simulated only.
    """
    from slant.collector.sources import SOURCES, sources_that
    from slant.collector.studies.catalogue import load_study
    from slant.collector.studies.coding_study import coding_name, write_coding_study
    from slant.collector.studies.new_study import STUDY_FILE

    loaded = load_study(study, variant, db)
    sources = [name for name in sources_that("is_of_models") if simulated or SOURCES[name].is_real]
    folder = folder or db.with_name(f"{db.name}.coding") / coding_name(loaded)
    collect = ctx.find_root().command
    passed_on = ["--study", str(folder / STUDY_FILE), "--db", str(db), *(["--simulated"] if simulated else []), *more]
    typed_models = collect.make_context("collect", list(passed_on)).params["models"]  # a wrong option is reported here
    models = [f"simulated/{name.removeprefix('simulated/')}" if simulated else name for name in typed_models]
    written = write_coding_study(db, loaded, sources, n_decided, folder, models)
    say(
        f"{written.n_undecided:,} undecided answers, and {written.n_decided:,} decided ones for agreement, "
        f"are the study {written.file}."
    )
    ctx.exit(collect.main(passed_on, prog_name="collect", standalone_mode=False) or 0)
