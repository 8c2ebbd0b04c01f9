"""Show trials in a browser, or write them as a folder of pages (`collect view`)."""

from __future__ import annotations

import asyncio
import contextlib
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.collector.commands.options import FILE, FOLDER, WholeNumber, anonymous_option, db_option, verbose_option
from slant.collector.errors import UsageError, as_typed
from slant.collector.system.operating_system import has_desktop
from slant.collector.terminal import count_text, late_bar, say

if TYPE_CHECKING:
    from slant.collector.view.server import Viewer

EXAMPLES = """\b
Examples:
  collect view
  collect view --db slant.duckdb --notes anna.csv --port 8080 --no-open
  collect view --code reasons --coder anna
  collect view --bundle supplement --where "outcome = 'refused' AND model = 'o3-mini'"

On another machine: ssh -L 8080:127.0.0.1:8080 HOST collect view --port 8080 --no-open, then open the printed address.
"""


@click.command("view", epilog=EXAMPLES)
@click.option("--port", type=WholeNumber(0, 65535), default=0, help="Default: a free one.")
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@click.option("--notes", "notes_path", type=FILE, metavar="FILE", help="A CSV for labels and lines on trials.")
@click.option("--code", "coded_study", metavar="STUDY", help="Code its drawn texts on a page instead (collect sample).")
@click.option("--coder", metavar="NAME", help="Who codes, for --code; adjudicator decides where others differ.")
@click.option("--bundle", type=FOLDER, metavar="FOLDER", help="Write the pages as files into a new folder instead.")
@click.option("--where", default="", metavar="SQL", help="Only these trials, for --bundle: a condition on `trials`.")
@click.option("--people-texts", is_flag=True, help="Include texts that people wrote in a bundle.")
@anonymous_option
@db_option
@verbose_option
def view_command(
    port: int,
    no_open: bool,
    notes_path: Path | None,
    coded_study: str | None,
    coder: str | None,
    bundle: Path | None,
    where: str,
    people_texts: bool,
    anonymous: bool,
    db: Path,
) -> None:
    """Read trials in a browser: filters, search, pairs side by side, games round by round, tables, notes.

    The page is on this machine only, and the address that is printed holds a token: anyone who has it can read along
    while the command runs. It changes nothing but the file of notes, and works while a collector writes.
    """
    if bundle is not None:
        if port or no_open or notes_path is not None:
            raise UsageError(
                "--port, --no-open and --notes are only for served pages; a bundle is files, without notes.",
                "Remove these or --bundle.",
            )
        _bundle(db, bundle, where, anonymous, people_texts)
        return
    if people_texts:
        raise UsageError("--people-texts needs --bundle: pages that you read yourself show everything.")
    if anonymous:
        raise UsageError("--anonymous needs --bundle: pages that you read yourself show everything.")
    if where:
        raise UsageError("--where needs --bundle; a page has a field for it.", "To read: collect view")
    from slant.collector.view.notes_file import NotesFile
    from slant.collector.view.server import HOST, Viewer, listening_socket, new_token, serve
    from slant.collector.view.trial_filter import guarded

    with guarded(db):
        pass  # a file that is no database is reported here, not on a page
    token = new_token()
    if coded_study is not None:
        viewer = _coding_page(db, coded_study, coder, notes_path, token)
    elif coder is not None:
        raise UsageError("--coder goes with --code STUDY.")
    else:
        viewer = Viewer(db, NotesFile(notes_path) if notes_path else None, token)
    listener = listening_socket(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"

    def ready() -> None:
        click.echo(address)
        say("Ctrl-C ends it.")
        if not no_open and has_desktop():
            webbrowser.open(address)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(viewer.application(), listener, ready))


def _coding_page(db: Path, name: str, coder: str | None, path: Path | None, token: str) -> Viewer:
    """Return the page on which one person codes texts, whose codes go into `path`, or a file called after both."""
    from slant.collector.studies.catalogue import load_study
    from slant.collector.studies.coding_sheets import check_coding
    from slant.collector.study.toml_table import checked_name
    from slant.collector.view.notes_file import NotesFile
    from slant.collector.view.server import CodingViewer

    if coder is None:
        raise UsageError("A page for codes is one coder's: say whose.", "As in: --coder anna")
    study = load_study(name, db=db)
    check_coding(study)
    path = path or Path(f"{study.name}.{checked_name(coder, 'coder')}.csv")
    viewer = CodingViewer(db, study, coder, NotesFile(path), token)
    after = f"collect import --study {study.as_typed} --db {as_typed(db)} {as_typed(path)}"
    say(f"Codes are kept in {path}, each at once. In the end: {after}")
    return viewer


def _bundle(db: Path, folder: Path, where: str, anonymous: bool, people_texts: bool) -> None:
    from rich.progress import Progress

    from slant.collector.view.bundle import write_bundle

    with late_bar(*Progress.get_default_columns()) as update:

        def on_page(done: int, known: int) -> None:
            update(description="pages", completed=done, total=known)

        n_trials = write_bundle(db, folder, where, on_page, anonymous=anonymous, people_texts=people_texts)
    click.echo(folder / "index.html")
    say(f"{count_text(n_trials, 'trial')}, with trials.csv and trials.parquet next to the pages.")
