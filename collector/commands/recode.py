"""Code answers that a rule left undecided: by a model (`collect code`; next to the rule's codes, as a second coding:
`collect recode`), or by people, who get a sheet of texts (`collect sample`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slant.collector.commands import options
from slant.collector.errors import UsageError, as_typed
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.terminal import count_text, say

if TYPE_CHECKING:
    from slant.collector.designs.study import Study

_EXAMPLES = f"""\b
Examples:
  collect recode --study decision --model {EXAMPLE_MODEL} --dry-run
  collect recode --study decision --model {EXAMPLE_MODEL} --budget 2
  collect recode --study decision --variant chained --simulated
  analyze tables coding_agreement

Further options are those of `collect`: --model, --budget, --yes, --pilot, --batch, --repetitions and others.
"""

_CODE_EXAMPLES = f"""\b
Examples:
  collect code audit.duckdb --undecided --model {EXAMPLE_MODEL} --dry-run
  collect sample --study audit_coding --n 200 --db audit.duckdb

Further options are those of `collect`.
"""
_PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True}


@click.command("recode", epilog=_EXAMPLES, context_settings=_PASSED_ON)
@options.study_option(required=True)
@options.setting_option("variant")
@click.option(
    "--decided",
    "n_decided",
    type=options.WholeNumber(),
    default=100,
    show_default=True,
    help="How many decided answers of each model to code as well, to measure agreement.",
)
@click.option("--folder", type=options.FOLDER, help="Folder for its study. [default: next to the database]")
@click.option("--simulated", is_flag=True, help="Query a simulated provider instead, also about simulated answers.")
@options.db_option
@click.pass_context
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF COLLECT]…")
def recode_command(ctx: click.Context, /, study: str, variant: str, db: Path, **asked: Any) -> None:
    """Let a model code the answers of a study that a rule left undecided.

    Nothing that was coded before is changed: the answers to code become a separate study, which is asked and kept like
    every other (journal, budget, refusals; the same command goes on where it stopped). Its prompt is in the folder and
    may be edited. The view second_codings has both codings of each answer, coding_agreement Cohen's kappa.
    Answers of simulated models are coded with --simulated only.
    """
    from slant.collector.studies.catalogue import load_study

    _let_code(ctx, db, load_study(study, variant, db), **asked)


@click.command("code", epilog=_CODE_EXAMPLES, context_settings=_PASSED_ON)
@click.argument("db", type=options.FILE)
@click.option("--undecided", is_flag=True, required=True, help="Code the answers that the form doesn't read.")
@options.study_option("Default: the only one.")
@click.option("--test", help="The question. Default: the only one with options, a scale, or yes and no.")
@options.setting_option("variant")
@click.option("--folder", type=options.FOLDER, help="Folder for its study. [default: next to the database]")
@click.option("--simulated", is_flag=True, help="Query a simulated provider instead, also about simulated answers.")
@click.pass_context
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF COLLECT]…")
def code_command(
    ctx: click.Context, /, db: Path, undecided: bool, study: str | None, variant: str, **asked: Any
) -> None:
    """Let a model code the answers of a factorial study that its form does not read.

    All answers become a study of the design coding: the coder "local/rule" has those that were read, models code the
    others. Then draw a sample of all for people (collect sample), and correct estimates: analyze --fit dsl.
    """
    from slant.collector.keep.database import reading
    from slant.collector.keep.stored_attempts import designs_in
    from slant.collector.studies.catalogue import load_study

    if study is None:
        with reading(db) as connection:
            names = [name for name, design in designs_in(connection).items() if design == "factorial"]
        if len(names) != 1:
            raise UsageError(f'"{db}" holds {len(names)} factorial studies.', "Name one: --study NAME")
        study = names[0]
    _let_code(ctx, db, load_study(study, variant, db), **asked)


def _let_code(
    ctx: click.Context,
    db: Path,
    study: Study,
    folder: Path | None,
    simulated: bool,
    more: Sequence[str],
    n_decided: int = 0,
    test: str | None = None,
) -> None:
    """Write the study that codes the undecided answers of `study`, keep what its form has read, and ask models."""
    from slant.collector.designs.coding.design import RULE
    from slant.collector.importing.imports import import_trials
    from slant.collector.sources import SOURCES, sources_that
    from slant.collector.studies.catalogue import load_study
    from slant.collector.studies.coding_study import coding_name, write_coding_study
    from slant.collector.studies.new_study import STUDY_FILE
    from slant.collector.system.files import write_file
    from slant.collector.system.scratch import temporary_folder

    sources = [name for name in sources_that("is_of_models") if simulated or SOURCES[name].is_real]
    folder = folder or db.with_name(f"{db.name}.coding") / coding_name(study, test)
    collect = ctx.find_root().command
    passed_on = ["--study", str(folder / STUDY_FILE), "--db", str(db), *(["--simulated"] if simulated else []), *more]
    typed_models = collect.make_context("collect", list(passed_on)).params["models"]  # a wrong option is reported here
    models = [f"simulated/{name.removeprefix('simulated/')}" if simulated else name for name in typed_models]
    written = write_coding_study(db, study, sources, n_decided, folder, models, test)
    decided = "read by rule" if written.read else "decided ones for agreement"
    say(
        f"{written.n_undecided:,} undecided answers, and {written.n_decided:,} {decided}, are the study {written.file}."
    )
    if written.read and "--dry-run" not in more:
        with temporary_folder("coding") as place:
            write_file(place / "rule.csv", "\n".join(("item,answer", *map(",".join, written.read.items()), "")))
            import_trials(db, load_study(written.file), [place / "rule.csv"], model=RULE)
    ctx.exit(collect.main(passed_on, prog_name="collect", standalone_mode=False) or 0)


EXAMPLES = """\b
Examples:
  collect sample --study reasons --n 200
  collect sample --study reasons --n 200 --by gender --seed 7
  collect sample --study reasons --n 100 --by uncertainty
"""


@click.command("sample", epilog=EXAMPLES)
@options.study_option(required=True)
@click.option(
    "--n", "n", type=options.AT_LEAST_1, required=True, help="How many texts to draw, besides those drawn before."
)
@click.option(
    "--by", default="", metavar="FACTOR", help="As many of each level: a factor, condition or code; or uncertainty."
)
@options.seed_option(1)
@click.option("--out", type=options.FILE, metavar="FILE", help="The sheet.  [default: NAME.sample.csv]")
@options.db_option
@options.opening_once
def sample_command(study: str, n: int, by: str, seed: int, out: Path | None, db: Path) -> None:
    """Draw texts of a coding study at random for people to code, and write them as a CSV to fill in.

    Each text has a known probability of being drawn, which is kept with the sample and its seed: estimates that are
    corrected for the coder's errors need it. A new sample adds texts to those drawn before. The sheet has the texts in
    a random order, with an empty column for the codes, and nothing of what a coder should not know.
    """
    from slant.collector.keep.text_samples import draw_sample
    from slant.collector.studies.catalogue import load_study
    from slant.collector.studies.coding_sheets import sheet_rows, strata_of
    from slant.collector.system.files import csv_text, write_file

    loaded = load_study(study, db=db)
    if out is not None and out.exists():
        raise UsageError(f"{out} is there already, perhaps with codes in it.", "Name another file: --out")
    drawn = draw_sample(db, loaded.name, strata_of(loaded, by, db), n, by, seed)
    mores = ("", *(f"-{again}" for again in range(2, 1000)))  # a file of that name may be of another database
    names = (Path(f"{loaded.name}.sample{drawn.sample_no}{more}.csv") for more in mores)
    path = out or next(name for name in names if not name.exists())
    write_file(path, csv_text(*sheet_rows(loaded, drawn.items)))
    others = f", besides {drawn.n_before:,} drawn before" if drawn.n_before else ""
    say(f"Drawn: {count_text(len(drawn.items), 'text')} of {drawn.n_texts:,}{others} (sample {drawn.sample_no}).")
    of = f"--study {loaded.as_typed} --db {as_typed(db)}"
    say(f"Written: {path}, whose column code is to be filled in, with the coder's name in the column coder.")
    say(f"Next: collect import {of} {as_typed(path)}")
    say(f"  or: collect view --code {loaded.as_typed} --coder NAME --db {as_typed(db)}    codes on a page")
