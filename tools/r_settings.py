"""Write the settings of `collect` into R: the arguments of collect_trials(), their help, and what each may be.

    python tools/r_settings.py

They come from collector/request/record.py. Then: make docs. Between the lines with "settings:" of R/collect_trials.R
nothing is written by hand; tests/project/test_settings.py says if it is not what this would write.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slant.collector.request.record import Request
from slant.collector.request.setting import Declared, respelled, settings_of

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "R" / "collect_trials.R"
BY_HAND = ("db", "study", "models")
"""Settings whose words in R are R's own."""
_MARKS = re.compile(r"^(#' )?# settings: (\w+)\n(?:.*\n)*?(#' )?# settings: end\n", re.MULTILINE)
_WIDTH = 120


def r_settings() -> list[Declared]:
    """The settings that collect_trials() passes on, in the record's order."""
    return [d for d in settings_of(Request).values() if d.setting.in_shell and d.name not in BY_HAND]


def r_value(value: Any) -> str:
    """A default as R writes it."""
    if isinstance(value, bool) or value is None:
        return {True: "TRUE", False: "FALSE", None: "NULL"}[value]
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def r_kind(declared: Declared) -> str:
    """What an argument may be, as argument_kinds of R/argument_rules.R calls it."""
    setting = declared.setting
    if declared.is_flag:
        return "flag"
    if int in declared.kinds:
        return f"whole {setting.least or 0}"
    if float in declared.kinds:
        return "number" if setting.above is None else "positive"
    return "file" if setting.file else "text"


def parameters() -> Iterator[str]:
    for declared in r_settings():
        setting = declared.setting
        text = respelled(f"{setting.help}{setting.in_units}{setting.only_in_shell}", lambda name: f"`{name}`")
        text = text[0].lower() + text[1:] if not text[:2].isupper() else text
        lines = textwrap.wrap(f"@param {declared.name} {text}", _WIDTH - 5)
        yield from (f"#' {'  ' * (number > 0)}{line}" for number, line in enumerate(lines))


def header() -> Iterator[str]:
    begin = "collect_trials <- function("
    arguments = ["study", "models = NULL", 'db = "slant.duckdb"', "..."]
    arguments += [f"{declared.name} = {r_value(declared.default)}" for declared in r_settings()]
    text = ", ".join([*arguments, "view = NULL"])
    joined = [part.replace(" = ", "\0=\0") for part in text.split(", ")]
    lines = textwrap.wrap(", ".join(joined), _WIDTH - len(begin) - len(") {"), break_on_hyphens=False)
    for number, line in enumerate(lines):
        before = begin if number == 0 else " " * len(begin)
        yield f"{before}{line.replace(chr(0), ' ')}{') {' if number == len(lines) - 1 else ''}"


def kinds() -> Iterator[str]:
    yield "setting_kinds <- c("
    words = ", ".join(f'{declared.name}\0=\0"{r_kind(declared)}"'.replace(" ", "\1") for declared in r_settings())
    for line in textwrap.wrap(words, _WIDTH - 2, break_on_hyphens=False):
        yield f"  {line.replace(chr(0), ' ').replace(chr(1), ' ')}"
    yield ")"


def with_settings(text: str) -> str:
    """The text of the R file with its parts between the marks as the record has them today."""
    written = {"help": parameters, "arguments": header, "kinds": kinds}

    def part(found: re.Match[str]) -> str:
        return f"# settings: {found[2]}\n" + "".join(f"{line}\n" for line in written[found[2]]()) + "# settings: end\n"

    return _MARKS.sub(part, text)


def main() -> None:
    text = FILE.read_text("utf-8")
    FILE.write_text(with_settings(text), "utf-8")


if __name__ == "__main__":
    main()
