"""How commands speak: rows to stdout in three formats, everything else to stderr, errors without tracebacks."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from slant.collector.errors import SlantError
from slant.collector.operating_system import check_supported

if TYPE_CHECKING:
    from slant.collector.study_files.records import Study

_ENDLESS = 10_000  # characters of a line where nobody counts them
_WIDE = "slant.wide"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: object) -> str:
    """Text that a terminal can show: control characters (of a model's answer, say) are taken out."""
    return _CONTROL.sub("\ufffd", str(text))


def say(text: str) -> None:
    """A message for the person: to stderr, so that a pipe gets only rows."""
    with contextlib.suppress(OSError):  # nobody listens any more: no reason to stop asking
        click.echo(printable(text), err=True)


def next_command(study: Study, db: Path) -> str:
    """What to type once all answers are there: the study's first kind of fit, or its tables where it defines none."""
    its = f"--fit {next(iter(study.fits.values())).engine}" if study.fits else f"tables --study {study.name}"
    return f"analyze {its} --db {shlex.quote(str(db))}"


class SlantGroup(click.Group):
    """A group whose commands end with one clear message and an exit code where a SlantError reaches it."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            check_supported()
        except SlantError as error:
            say(f"Error: {error}")
            sys.exit(error.exit_code)
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SlantError as error:
            say(f"Error: {error}")
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it flushes
            ctx.exit(141)  # what the shell gives a program whose reader has gone
        except OSError as error:
            say(f"Error: {error.strerror or error}: {error.filename}" if error.filename else f"Error: {error}")
            ctx.exit(1)


def db_option(command: Any) -> Any:
    return click.option(
        "--db",
        type=click.Path(path_type=Path, dir_okay=False),
        default=Path("slant.duckdb"),
        envvar="SLANT_DB",
        show_default=True,
        show_envvar=True,
        help="The database file.",
    )(command)


def _take_wide(ctx: click.Context, parameter: click.Parameter, is_wide: bool) -> None:
    ctx.meta[_WIDE] = ctx.meta.get(_WIDE) or is_wide


def format_option(command: Any) -> Any:
    command = click.option(
        "--wide", is_flag=True, expose_value=False, callback=_take_wide, help="All columns, however long the lines."
    )(command)
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["table", "csv", "json"]),
        default="table",
        show_default=True,
        help="How rows are printed.",
    )(command)


def print_rows(rows: Any, output_format: str = "table", title: str | None = None, *, err: bool = False) -> None:
    """Print a Polars data frame (or a list of dicts) to stdout as a table, CSV, or JSON (a list of objects). With `err`
    a table goes to stderr: it is for the person, and stdout holds the rows of something else."""
    import polars as pl

    frame = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, infer_schema_length=None)
    if output_format == "csv":
        click.echo(frame.write_csv(), nl=False)
    elif output_format == "json":
        click.echo(json.dumps(frame.to_dicts(), default=str, ensure_ascii=False, indent=1))
    else:
        from slant.collector.commands.fitting import fitted

        console = _console(sys.stderr if err else sys.stdout)
        shown, left_out, widths = fitted(frame, console.width)
        console.print(as_table(shown, title, widths))
        if left_out:
            say(f"Left out, for want of room: {', '.join(left_out)}. All of it: --wide, or --format csv.")


def _console(file: TextIO) -> Any:
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # SlantGroup ends all commands alike; rich would say that they failed

    piped = not file.isatty()
    is_endless = piped or _is_wide()
    return Ours(file=file, width=_ENDLESS if is_endless else None, soft_wrap=is_endless)


def _is_wide() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_WIDE))


def as_table(frame: Any, title: str | None = None, widths: Mapping[str, int] | None = None) -> Any:
    """A Polars data frame as a table that rich prints, its columns as wide as `widths` says."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, dtype in frame.schema.items():
        width = (widths or {}).get(name)
        table.add_column(name, justify="right" if dtype.is_numeric() else "left", overflow="fold", width=width)
    for row in frame.iter_rows():
        table.add_row(*(Text(shown_cell(value)) for value in row))
    return table


def shown_cell(value: object) -> str:
    """A value as a table shows it: unknown is nothing, a number has six digits."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else printable(value)


def _say_version(ctx: click.Context, parameter: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from slant.collector.provenance.sources import code_version

        click.echo(f"slant, version {code_version()}")
        ctx.exit()


version_option = click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="The version."
)
