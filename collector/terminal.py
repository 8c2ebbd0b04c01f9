"""How commands speak: rows to stdout in three formats, everything else to stderr, errors without tracebacks."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import click

from slant.collector.errors import SlantError
from slant.collector.system.operating_system import check_supported

_ENDLESS = 10_000  # characters of a line where nobody counts them
_WIDE = "slant.wide"
_BETWEEN = 3  # characters that rich puts between two columns
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: object) -> str:
    """Text that a terminal can show: control characters (of a model's answer, say) are taken out."""
    return _CONTROL.sub("\ufffd", str(text))


def say(text: str) -> None:
    """A message for the person: to stderr, so that a pipe gets only rows."""
    with contextlib.suppress(OSError):  # nobody listens any more: no reason to stop asking
        click.echo(printable(text), err=True)


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


PRINTED = ("table", "csv", "json")


def wide_option(command: Any) -> Any:
    return click.option(
        "--wide", is_flag=True, expose_value=False, callback=_take_wide, help="All columns, however long the lines."
    )(command)


def format_option(command: Any) -> Any:
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(PRINTED),
        default="table",
        show_default=True,
        help="How rows are printed.",
    )(wide_option(command))


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


def fitted(frame: Any, width: int) -> tuple[Any, list[str], dict[str, int]]:
    """The columns of a Polars frame that fit into `width` characters, those left out, and how wide each one is."""
    texts = {name: [name, *map(shown_cell, frame[name])] for name in frame.columns}
    least = {name: max(len(word) for text in its for word in (text.split() or [""])) for name, its in texts.items()}
    full = {name: max(len(line) for text in its for line in (text.splitlines() or [""])) for name, its in texts.items()}
    kept = list(frame.columns)
    empty = [name for name in kept if frame.height and not any(texts[name][1:])]
    for name in (*empty[::-1], *[name for name in kept[:0:-1] if name not in empty]):
        if _taken(least, kept) <= width:
            break
        if name != frame.columns[0]:
            kept.remove(name)
    widths = _widths(least, full, kept, width)
    return frame.select(kept), [name for name in frame.columns if name not in kept and name not in empty], widths


def _taken(widths: dict[str, int], kept: list[str]) -> int:
    return sum(widths[name] + _BETWEEN for name in kept)


def _widths(least: dict[str, int], full: dict[str, int], kept: list[str], width: int) -> dict[str, int]:
    """All that each column asks for, where there is room; else no column is wider than need be for all to fit."""
    widths = {name: full[name] for name in kept}
    most = max(widths.values(), default=0)
    while most > 1 and _taken(widths, kept) > width:
        most -= 1
        widths = {name: max(least[name], min(full[name], most)) for name in kept}
    return widths


def _say_version(ctx: click.Context, parameter: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from slant.collector.system.code_version import code_version

        click.echo(f"slant, version {code_version()}")
        ctx.exit()


version_option = click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="The version."
)
