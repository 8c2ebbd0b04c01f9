"""Pack a study as one file for reviewers, repositories and later readers (`analyze seal`)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from slant.analysis.cli.options import ONE_STUDY, option, workers_options
from slant.analysis.cli.progress import TerminalStages
from slant.collector.commands.options import FILE, db_option, output_options, study_option
from slant.collector.terminal import print_rows, say

_EXAMPLES = """\b
Examples:
  analyze seal --study rmiat --out study.zip
  analyze seal --out study.zip --author "Ada Example" --license CC-BY-4.0
  analyze seal --out public.zip --without reasoning

In the archive: the journals, data as CSV and Parquet with a codebook, tables, fits, figures, the study's files,
prompts, versions, README.md, CITATION.cff and hashes. Not in it: keys, names of machines, their folders and users.
Then, by the person who gets it:
  analyze replay study.zip --out check
"""


@click.command("seal", epilog=_EXAMPLES)
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
    row = {
        "archive": str(sealed.path), "study": sealed.study, "trials": sealed.n_trials, "files": sealed.n_files,
        "megabytes": round(sealed.n_bytes / 1e6, 2), "manifest_sha256": sealed.manifest_sha256,
    }  # fmt: skip
    print_rows([row], output_format)
    for note in sealed.notes:
        say(note)
    say(f"To check it and make everything again: analyze replay {shlex.quote(str(sealed.path))} --out check")
