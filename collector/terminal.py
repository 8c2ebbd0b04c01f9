"""Print for commands: rows to stdout in three formats, all else (also the log) to stderr, errors without tracebacks."""

from __future__ import annotations

import contextlib
import difflib
import json
import logging
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TextIO

import click

from slant.collector.errors import NEAR, Interrupted, SlantError, UsageError
from slant.collector.screen_tables import as_table, in_digits, plain_table, screen_table
from slant.collector.screen_tables import printable as printable
from slant.collector.system.operating_system import check_supported, forbid_core_dumps

_ENDLESS = 10_000  # characters of a line of unlimited width
WIDE, DIGITS = "slant.wide", "slant.digits"  # in click's context: what was typed as --wide, --digits
MOST_DIGITS = 6
_INTERRUPTED = "slant.interrupted"  # in click's context: the message at Ctrl-C
_SHOW_BAR_AFTER_S = 2.0
LOG_VARIABLE = "SLANT_LOG"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
PRINTED = ("table", "csv", "json")  # the formats of --format


def print_data(text: str, *, nl: bool = True) -> None:
    """Print data to stdout: to a file or a pipe exactly, on a terminal without control characters."""
    click.echo(printable(text) if sys.stdout.isatty() else text, nl=nl)


def say(text: str) -> None:
    """Print a message for the person: to stderr, so that a pipe gets only rows."""
    with contextlib.suppress(OSError):  # a closed stderr is no reason to stop asking
        click.echo(printable(text), err=True)


def if_interrupted(what: str, hint: str) -> None:
    """Set what a command says from now on if Ctrl-C ends it at once: what is kept, and what to type."""
    if (ctx := click.get_current_context(silent=True)) is not None:
        ctx.meta[_INTERRUPTED] = Interrupted(what, hint)


class _LogHandler(logging.Handler):
    """Write log lines to where messages go: the current stderr, which a progress bar takes over while it is drawn."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record))


def show_log(level: str | None = None) -> None:
    """Write slant's log from this level on to stderr; without `level` what SLANT_LOG says, which may be nothing.

    Raise UsageError if that is not a level. The more detailed of several levels counts.
    """
    name = (level or os.environ.get(LOG_VARIABLE, "")).strip().upper()
    if not name:
        return
    if name not in LOG_LEVELS:
        raise UsageError(f"{LOG_VARIABLE} must be one of {', '.join(LOG_LEVELS).lower()}, but is {name.lower()!r}.")
    logger = logging.getLogger("slant")
    if not any(isinstance(handler, _LogHandler) for handler in logger.handlers):
        handler = _LogHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
        logger.addHandler(handler)
    logger.setLevel(min(logging.getLevelName(name), logger.level or logging.CRITICAL))


class SectionOption(click.Option):
    """Define an option that --help lists under a separate heading, its `section`."""

    def __init__(self, *args: Any, section: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


def _refuse_empty(arguments: Iterable[str] | None) -> None:
    """Raise UsageError for an empty argument, as from --run "$RUN" if RUN is not set: it would pass for an omitted
    option, and more rows would be read than intended."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for before, word in zip(["", *words], words, strict=False):
        if not word.strip() or re.fullmatch(r"--[\w-]+=", word):
            place = word or f'"" after {before}' if before else '""'
            raise UsageError(f"An argument is empty ({place}). Is it a shell variable that is not set?")


def _open_streams() -> None:
    """Open what the shell has closed (`>&-`): it takes what is written into it, and keeps nothing."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


def _is_about_memory(error: Exception) -> bool:
    """Recognise also the messages of DuckDB and zstd; DuckDB itself is not imported for this."""
    message = str(error)
    is_full = any(words in message for words in ("not enough memory", "failed to allocate", "Cannot allocate memory"))
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException" or is_full


def _say_interrupted(ctx: click.Context) -> None:
    if (interrupted := ctx.meta.get(_INTERRUPTED)) is not None:
        say(f"\nError: {interrupted}")  # after the ^C of a terminal
        ctx.exit(interrupted.exit_code)


def _argument_or_option(error: click.NoSuchOption) -> click.UsageError:
    """Return a clearer error if an argument was typed as an option: other commands have that word as one (--study)."""
    arguments = [p for p in error.ctx.command.params if isinstance(p, click.Argument)] if error.ctx else []
    for name in (argument.human_readable_name.strip("[]") for argument in arguments):
        if error.option_name == f"--{name.lower()}":
            return click.UsageError(f"{name} is typed here without {error.option_name}.", error.ctx)
    return error


class SlantGroup(click.Group):
    """End commands with one clear message and an exit code if a SlantError reaches this group."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            check_supported()
            forbid_core_dumps()
            _open_streams()
            show_log()
            _refuse_empty(args[0] if args else kwargs.get("args"))
        except SlantError as error:
            say(f"Error: {error}")
            sys.exit(error.exit_code)
        return super().main(*args, **kwargs)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does, but suggest the nearest command for an unknown one."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1, cutoff=NEAR)
            hint = f'Did you mean "{near[0]}"?' if near else f"There are: {', '.join(self.list_commands(ctx))}."
            ctx.fail(f'There is no command "{printable(name)}". {hint}')
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SlantError as error:
            say(f"Error: {error}")
            ctx.exit(error.exit_code)
        except click.NoSuchOption as error:
            raise _argument_or_option(error) from None
        except KeyboardInterrupt:
            _say_interrupted(ctx)
            raise
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it flushes
            ctx.exit(141)  # the shell's exit code for a program whose reader has gone
        except OSError as error:
            say(f"Error: {error.strerror or error}: {error.filename}" if error.filename else f"Error: {error}")
            ctx.exit(1)
        except Exception as error:
            if str(error) == "Query interrupted":  # DuckDB's message for Ctrl-C
                _say_interrupted(ctx)
                raise click.Abort from error
            if not _is_about_memory(error):
                raise
            say(f"Error: There is not enough memory ({(str(error) or type(error).__name__).splitlines()[0]}).")
            ctx.exit(1)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, then the commands."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in self.get_params(ctx):
            if line := option.get_help_record(ctx):
                sections.setdefault(getattr(option, "section", "Options"), []).append(line)
        for title, lines in sections.items():
            with formatter.section(title):
                formatter.write_dl(lines)
        self.format_commands(ctx, formatter)


class LazyCommand(NamedTuple):
    """Say where a command is, and its line in the list of commands."""

    module: str
    function: str
    about: str


class LazyGroup(SlantGroup):
    """Import a command's module when the command is used, so that --help answers at once."""

    def __init__(self, *args: Any, lazy_commands: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy_commands = lazy_commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lazy_commands:
            return None
        place = self._lazy_commands[cmd_name]
        command: click.Command = getattr(import_module(place.module), place.function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._lazy_commands[name].about) for name in self.list_commands(ctx)])


def print_rows(
    rows: Any,
    output_format: str = "table",
    title: str | None = None,
    *,
    err: bool = False,
    keep: Sequence[str] = (),
    digits: int = MOST_DIGITS,
) -> None:
    """Print a Polars data frame (or a list of dicts) to stdout as a table, CSV, or JSON (a list of objects). With `err`
    a table goes to stderr: it is for the person, and stdout holds other rows. `keep`: the columns that a narrow
    terminal leaves out last. `digits`: significant ones of a table's numbers, unless --digits says another number."""
    plain = plain_table(rows) if output_format == "table" else None
    if plain is None:
        import polars as pl

        frame: Any = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, infer_schema_length=None)
    if output_format == "csv":
        print_data(frame.write_csv(), nl=False)
    elif output_format == "json":
        print_data(json.dumps(frame.to_dicts(), default=str, ensure_ascii=False, indent=1))
    else:
        console = _console(sys.stderr if err else sys.stdout)
        if plain is None:
            frame = in_digits(frame, _typed(DIGITS) or digits)
        shown = screen_table(plain or frame, console.width, keep)
        if shown.above:
            words = printable(shown.above).replace(": ", ":\u00a0")  # a name and its value stay in one line
            console.print(textwrap.fill(words, console.width).replace("\u00a0", " "), markup=False, highlight=False)
        console.print(as_table(shown.frame, title, shown))
        if shown.left_out:
            say(f"Left out, for want of room: {', '.join(shown.left_out)}. All of it: --wide, or --format csv.")


def _console(file: TextIO) -> Any:
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # SlantGroup ends all commands alike; rich would report a failure

    piped = not file.isatty()
    is_endless = piped or bool(_typed(WIDE))
    return Ours(file=file, width=_ENDLESS if is_endless else None, soft_wrap=is_endless)


def _typed(name: str) -> Any:
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(name)


@contextlib.contextmanager
def late_bar(*columns: Any) -> Iterator[Callable[..., None]]:
    """Show a bar of rich's `columns` for work that may be over quickly: only on a terminal, and after two seconds.
    It yields a function that takes the progress, as rich's `Progress.update` does.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task, begun = bar.add_task("", total=None), time.monotonic()

    def update(**changes: Any) -> None:
        bar.update(task, **changes)
        if time.monotonic() - begun > _SHOW_BAR_AFTER_S and not bar.live.is_started:
            bar.start()

    try:
        yield update
    finally:
        bar.stop()


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first of these names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def count_text(number: int, noun: str) -> str:
    """Return "1 trial", "12,920 trials"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
