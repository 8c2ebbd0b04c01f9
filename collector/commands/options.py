"""Declare options that several commands of `collect` and `analyze` share, each once.

One word means one thing: a filter is named after the column that it filters (--source, --study-version, --status), and
--show names the table of a result that is printed. Nothing heavy is imported here: --help reads this module.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from slant.collector.errors import DatabaseError, SlantError
from slant.collector.request.record import Request
from slant.collector.request.setting import Declared, settings_of
from slant.collector.sources import SOURCES
from slant.collector.terminal import DIGITS, MOST_DIGITS, PRINTED, WIDE, SectionOption, say, show_log

Decorator = Callable[[Any], Any]

STUDY = settings_of(Request)["study"].setting.help
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


_MAX_INTEGER = 2**31 - 1  # what an integer of R holds


class WholeNumber(click.IntRange):
    """Take a whole number from `least` to `most`."""

    name = "whole number"

    def __init__(self, least: int = 0, most: int = _MAX_INTEGER) -> None:
        super().__init__(least, most)
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = click.types.IntParamType.convert(self, value, param, ctx)  # type: ignore[arg-type]
        if not self._least <= number <= self._most:
            end = f" and {self._most:,} at most" if number > self._most == _MAX_INTEGER else ""
            self.fail(f"It must be {self._describe_range()}{end}, but is {number}.", param, ctx)
        return number

    def _describe_range(self) -> str:
        return f"{self._least:,} or more" if self._most == _MAX_INTEGER else f"{self._least:,} to {self._most:,}"


class Number(click.FloatRange):
    """Take a finite number: click's own range accepts NaN."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = click.types.FloatParamType.convert(self, value, param, ctx)  # type: ignore[arg-type]
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        least, most = self.min or 0, math.inf if self.max is None else self.max
        is_low = number <= least if self.min_open else number < least
        is_high = number >= most if self.max_open else number > most
        if is_low or is_high:
            self.fail(f"It must be {self._describe_range()}, but is {value}.", param, ctx)
        return number

    def _describe_range(self) -> str:
        if self.max is not None:
            return f"between {self.min:g} and {self.max:g}"
        return f"more than {self.min:g}" if self.min_open else f"{self.min:g} or more"


AT_LEAST_1 = WholeNumber(1)
BETWEEN_0_AND_1 = Number(0, 1, min_open=True, max_open=True)
ABOVE_0 = Number(min=0, min_open=True)


def section(title: str) -> Callable[..., Decorator]:
    """Return `click.option` for options under this heading of --help."""
    return partial(click.option, cls=SectionOption, section=title)


def setting_option(name: str, *, more: str = "", **changes: Any) -> Decorator:
    """Return the option of a setting of `collect`, as the record declares it. `more`: a sentence for one command."""
    declared = settings_of(Request)[name]
    setting, default = declared.setting, declared.default
    if declared.is_required or default is None:
        default = setting.usual
    keywords: dict[str, Any] = {"type": _type_of(declared), "metavar": setting.metavar, "help": f"{setting.help}{more}"}
    if declared.is_flag or declared.is_list:  # click takes False for a given value
        keywords["is_flag" if declared.is_flag else "multiple"] = True
    if default is not None:
        keywords |= {"default": default, "show_default": not declared.is_flag}
    if setting.variable is not None:
        keywords |= {"envvar": setting.variable, "show_envvar": True}
    option = section(setting.section) if setting.section else click.option
    return option(declared.option, declared.name, **keywords | changes)


def _type_of(declared: Declared) -> Any:
    setting = declared.setting
    if declared.choices:
        return click.Choice(declared.choices)
    if setting.file:
        return FILE
    if int in declared.kinds:
        return WholeNumber(setting.least or 0, setting.most or _MAX_INTEGER)
    if float in declared.kinds:
        return Number(min=setting.above, min_open=True)
    return None


def request_options(command: Any) -> Any:
    """Return the command with an option for every setting of `collect`."""
    settings = [declared for declared in settings_of(Request).values() if declared.setting.in_shell]
    for declared in sorted(settings, key=lambda declared: declared.name == "db")[::-1]:
        own = {"provider_file": provider_file_option, "db": db_option}
        option = own.get(declared.name) or setting_option(declared.name, more=declared.setting.only_in_shell)
        command = option(command)
    return command


def study_option(more: str = "", *, required: bool = False) -> Decorator:
    """Return --study; `more` says what leaving it out means."""
    return setting_option("study", more=f" {more}" if more else "", required=required)


def seed_option(default: int | None = None) -> Decorator:
    """Return --seed: the same seed gives the same numbers again. Without `default` it is the study's."""
    if default is None:
        return setting_option("seed")
    text = settings_of(Request)["seed"].setting.help.removesuffix(" Default: the study's.")
    return setting_option("seed", default=default, show_default=True, help=text)


def source_option(*more: str) -> Decorator:
    return rows_option("--source", type=click.Choice([*SOURCES, *more]), help="Only rows of this source.")


rows_option = section("Which rows are read")
output_option = section("Database and output")

base_url_option = setting_option("base_url")


def _read_provider_file(ctx: click.Context, parameter: click.Parameter, file: Path | None) -> None:
    if file is None or ctx.resilient_parsing:
        return
    from slant.collector.providers import check_provider_file
    from slant.collector.providers.own_providers import read_from

    ctx.with_resource(read_from(file))
    try:
        check_provider_file()
    except SlantError as error:
        say(f"Error: {error}")
        ctx.exit(error.exit_code)


provider_file_option = setting_option("provider_file", expose_value=False, callback=_read_provider_file)
time_limit_option = setting_option("time_limit")
yes_option = setting_option("yes")
list_option = click.option("--list", "is_list", is_flag=True, help="List the available names and exit.")
db_option = setting_option("db")


def _show_log(ctx: click.Context, parameter: click.Parameter, is_verbose: bool) -> None:
    if is_verbose:
        show_log("info")


anonymous_option = click.option(
    "--anonymous", is_flag=True, help="Remove what identifies the collector: paths, hosts, headers, request ids."
)
verbose_option = output_option(
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_show_log,
    help="Log requests, retries, waits, loads and fits to stderr. SLANT_LOG=debug: also every request.",
)


def _take_wide(ctx: click.Context, parameter: click.Parameter, is_wide: bool) -> None:
    ctx.meta[WIDE] = ctx.meta.get(WIDE) or is_wide


def _take_digits(ctx: click.Context, parameter: click.Parameter, digits: int | None) -> None:
    ctx.meta[DIGITS] = digits or ctx.meta.get(DIGITS)


def _say_version(ctx: click.Context, parameter: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        from slant.collector.system.shipped_files import current_code_version

        click.echo(f"slant, version {current_code_version()}")
        ctx.exit()


version_option = click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="Print slant's version."
)
_wide_option = output_option(
    "--wide", is_flag=True, expose_value=False, callback=_take_wide, help="Print all columns, even if lines get long."
)
_digits_option = output_option(
    "--digits",
    type=WholeNumber(1, MOST_DIGITS),
    metavar="N",
    expose_value=False,
    callback=_take_digits,
    help=f"Significant digits of a table's numbers, up to {MOST_DIGITS}; CSV and JSON have all.",
)


def output_options(command: Any) -> Any:
    """Add options for how rows are printed, and how much is said in addition."""
    return output_options_with()(command)


def output_options_with(*more: str) -> Decorator:
    """Add the same options for rows that can be printed in more formats."""
    format_option = output_option(
        "--format",
        "output_format",
        type=click.Choice((*PRINTED, *more)),
        default="table",
        show_default=True,
        help="Format of printed rows.",
    )
    return lambda command: format_option(_digits_option(_wide_option(verbose_option(command))))


def or_lake(command: Callable[..., Any]) -> Any:
    """Let a command with `db` read a lake in its place (above `row_options`)."""

    @functools.wraps(command)
    def with_lake(*args: Any, lake: Path | None, **options: Any) -> Any:
        if lake is not None and not lake.is_dir():
            from slant.collector.keep.database_errors import check_on_this_machine

            check_on_this_machine(lake)
            raise DatabaseError(f'There is no lake "{lake}".', f"To make one: collect export --layout lake {lake}")
        return command(*args, **options | ({"db": lake} if lake is not None else {}))

    return output_option(
        "--lake", type=FOLDER, help="Read this folder instead of --db (`collect export --layout lake`)."
    )(with_lake)


_ROW_OPTIONS = (
    rows_option("--all-versions", is_flag=True, help="Every version of the study, in separate rows."),
    rows_option(
        "--other-models",
        is_flag=True,
        help="Also answers of models that you didn't request, in separate rows.",
    ),
    rows_option("--settings", multiple=True, metavar="KEY=VALUE", help="Only rows with this setting: temperature=0.2."),
    rows_option("--run", metavar="RUN", help="Only this run: its id, or the beginning of it."),
    rows_option("--study-version", metavar="VERSION", help="Only this version of the study, or the beginning of it."),
)


_ROWS = ("study_version", "run", "settings", "all_versions")


def is_choosing_rows() -> bool:
    """Return whether one of the options that row_options() takes was typed."""
    context = click.get_current_context()
    sources = (context.get_parameter_source(name) for name in (*_ROWS, "other_models"))
    return ParameterSource.COMMANDLINE in sources


def is_typed(name: str) -> bool:
    """Return whether an option was typed, and is not its default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def opening_once(command: Callable[..., Any]) -> Any:
    """Let all reading of its `db` by a command share one opening, which takes longer than most reading."""

    @functools.wraps(command)
    def with_it_open(*args: Any, **options: Any) -> Any:
        from slant.collector.keep.database import kept_open

        with kept_open(options["db"]):
            return command(*args, **options)

    return with_it_open


def row_options(command: Callable[..., Any]) -> Any:
    """Let a command with `db`, and perhaps `study`, read only the rows that these options choose."""

    @functools.wraps(command)
    def with_rows(*args: Any, **options: Any) -> Any:
        which = {name: options.pop(name) for name in _ROWS}
        other_models = options.pop("other_models")
        context = click.get_current_context()
        if context.invoked_subcommand is not None or context.resilient_parsing:
            return command(*args, **options)
        from slant.collector.keep.database import kept_open, showing
        from slant.collector.studies.row_choice import chosen_rows

        with kept_open(options["db"]):  # a command looks up to ten times
            rows = chosen_rows(options["db"], options.get("study"), **which)
            for note in rows.notes:
                say(note)
            with showing(rows.versions, rows.runs, other_models=other_models):
                return command(*args, **options)

    for option in _ROW_OPTIONS:
        with_rows = option(with_rows)
    return with_rows
