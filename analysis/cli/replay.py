"""Pack a study as one file for reviewers, repositories and later readers (`analyze seal`); check such a file, and make
everything in it again (`analyze replay`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl

from slant.analysis.cli.options import ONE_STUDY, option, workers_options
from slant.analysis.cli.progress import TerminalStages
from slant.analysis.cli.result_commands import print_result
from slant.collector.commands.options import FILE, FOLDER, db_option, output_options, study_option
from slant.collector.errors import UsageError, as_typed
from slant.collector.terminal import first_of, print_rows, say

if TYPE_CHECKING:
    from slant.analysis.archive.replaying import Replayed
    from slant.analysis.calls.executors import Workers


_EXAMPLES_OF_REPLAY = """\b
Examples:
  analyze replay study.zip --out check
  analyze replay study.zip --out check --format csv > replayed.csv
  analyze replay study.zip --change "lme4.formula=tokens ~ condition + (1 | item)"

Tables and data must be the same to the last character, what R computed within 1e-8 (mixed models of several random
effects 1e-4, for other processors and versions; on one machine they are equal to 1e-8), draws bit by bit under equal
versions and within Monte Carlo error under others. Without R, what needs it is not made, and the rest is compared.
Exit code 1 where something differs, 2 where --out is taken.
What nothing makes again (README.md, the journals themselves) is named as not compared.
An archive that holds anything that slant does not pack is refused, and nothing of it is unpacked.
"""


@click.command("replay", epilog=_EXAMPLES_OF_REPLAY)
@click.argument("archive", type=FILE)
@option("--out", of=FOLDER, default=Path("check"), help="A new folder for all results.")
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="FIT.CHOICE=VALUE",
    help="Instead: fit with one choice changed, and compare with the sealed fit; `help` lists choices. Repeatable.",
)
@click.option("--no-r", is_flag=True, help="Skip fits and figures, which need R.")
@workers_options
@output_options
@click.pass_context
def replay_command(
    ctx: click.Context,
    archive: Path,
    out: Path,
    changes: tuple[str, ...],
    no_r: bool,
    workers: Workers,
    output_format: str,
) -> None:
    """Check the hashes of a sealed study, make its tables, fits and figures again, and say what agrees.

    This prints one row for each kind of file; with --format csv or json one for each file.
    """
    if changes:
        _print_changed(archive, changes, workers, output_format)
        return
    from slant.analysis.archive.comparison import AGREES
    from slant.analysis.archive.replaying import replay

    replayed = replay(archive, out, workers, TerminalStages(), with_r=not no_r)
    print_rows(_summary(replayed) if output_format == "table" else replayed.table, output_format)
    for row in replayed.problems.to_dicts():
        say(f"{row['status'].capitalize()}: {row['kind']} {row['name']}: {row['note']}")
    for note in replayed.notes:
        say(note)
    say(_versions(replayed))
    for note, names in replayed.not_compared.group_by("note", maintain_order=True).agg(pl.col("name")).iter_rows():
        say(f"Not compared: {first_of(names, 6)}: {note}")
    n_agree = replayed.table.filter(pl.col("kind") != "hash", pl.col("status") == AGREES).height
    verdict = f"All recomputed results agree: {n_agree:,} files" if replayed.agrees else "NOT ALL AGREES"
    say(f"{verdict}. Database: {replayed.db}")
    if not replayed.agrees:
        ctx.exit(1)


def _print_changed(archive: Path, changes: tuple[str, ...], workers: Workers, output_format: str) -> None:
    """Print fits of the archive's answers as its study has them next to those with other choices; write nothing."""
    from slant.analysis.archive.study_copy import database_of
    from slant.analysis.cli.progress import FitProgress
    from slant.analysis.questions.side_by_side import changeable, side_by_side, with_changes
    from slant.analysis.rows.study_choice import study_in
    from slant.collector.studies.fit_checks import wrong_fits

    with database_of(archive) as db, FitProgress() as progress:
        study = study_in(db, None)
        if "help" in changes:
            print_rows(changeable(study), output_format)
            return
        changed, names = with_changes(study, changes)
        only = {name: changed.fits[name] for name in names}
        if wrong := wrong_fits(replace(changed, fits=only, sensitivity={})):
            raise UsageError(f"The answers of {study.name} can't be fitted with that change.", *wrong)
        result = side_by_side(db, db, study, names, workers=workers, progress=progress, changed=changed)
    rows = result.estimates.rename({name: name.replace("_there", "_changed") for name in result.estimates.columns})
    rows = rows.with_columns(
        status=pl.col("status").replace({"only here": "only before", "only there": "only changed"})
    )
    shown = ["fit", "model", "test", "term", "estimate", "std_error", "estimate_changed", "std_error_changed"]
    print_result(rows, output_format, shown, digits=4)
    for change in changes:
        say(f"Changed: {change}")


def _summary(replayed: Replayed) -> pl.DataFrame:
    def count(status: str) -> pl.Expr:
        return (pl.col("status") == status).sum().alias(status.replace(" ", "_"))

    return replayed.table.group_by("kind", maintain_order=True).agg(
        count("agrees"), count("differs"), count("not made"), count("not compared"), pl.max("largest_difference")
    )


def _versions(replayed: Replayed) -> str:
    other = replayed.versions.filter(pl.col("sealed").ne_missing(pl.col("here")))
    if other.is_empty():
        listed = ", ".join(f"{name} {version}" for name, version, _ in replayed.versions.iter_rows())
        return f"With the versions that it was sealed with: {listed}."
    parts = [f"{name} {sealed or 'none'} (here {here or 'none'})" for name, sealed, here in other.iter_rows()]
    return f"Sealed with other versions: {', '.join(parts)}. All others are the same."


_EXAMPLES_OF_SEAL = """\b
Examples:
  analyze seal --study rmiat --out study.zip
  analyze seal --out study.zip --author "Ada Example" --license CC-BY-4.0
  analyze seal --out public.zip --without reasoning

In the archive: the journals, data as CSV and Parquet with a codebook, tables, fits, figures, the study's files,
prompts, versions, README.md, CITATION.cff and hashes. Not in it: keys, names of machines, their folders and users.
Then, by the person who gets it:
  analyze replay study.zip --out check
"""


@click.command("seal", epilog=_EXAMPLES_OF_SEAL)
@study_option(ONE_STUDY)
@option("--out", of=FILE, default=Path("study.zip"), help="The ZIP file to write.")
@option(
    "--without",
    multiple=True,
    of=("reasoning",),
    help="Exclude the texts of reasoning, if you may not share them; their hashes stay.",
)
@click.option(
    "--people-texts", is_flag=True, help="Include texts that people wrote; otherwise only their choices and numbers."
)
@click.option("--author", "authors", multiple=True, metavar="NAME", help="An author of these data. Repeatable.")
@click.option("--license", metavar="NAME", help="The licence of these data, as in CC-BY-4.0.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@click.option("--no-r", is_flag=True, help="Skip fits and figures, which need R.")
@workers_options
@db_option
@output_options
def seal_command(study: str | None, no_r: bool, db: Path, output_format: str, **packed: Any) -> None:
    """Pack a study into one file from which others make the same tables with one command.

    This prints one row: the file, what is in it, and the SHA-256 of its manifest, which identifies all of it.
    """
    from slant.analysis.archive.sealing import seal

    sealed = seal(db, study, progress=TerminalStages(), with_r=not no_r, **packed)
    row = {"archive": str(sealed.path), "study": sealed.study, "trials": sealed.n_trials, "files": sealed.n_files}
    row |= {"megabytes": round(sealed.n_bytes / 1e6, 2), "manifest_sha256": sealed.manifest_sha256}
    print_rows([row], output_format)
    for note in sealed.notes:
        say(note)
    say(f"To check it and make everything again: analyze replay {as_typed(sealed.path)} --out check")
