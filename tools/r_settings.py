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
_MARKS = re.compile(r"^( *)# settings: (\w+)\n(?:.*\n)*?\1# settings: end\n", re.MULTILINE)
_OF_ARGUMENTS = 27
"""Columns before the arguments of collect_trials()."""
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


def arguments() -> Iterator[str]:
    pairs = (f"{declared.name} = {r_value(declared.default)}" for declared in r_settings())
    yield from _listed(pairs, " " * _OF_ARGUMENTS, ends_with_comma=True)


def kinds() -> Iterator[str]:
    yield from _listed((f'{declared.name} = "{r_kind(declared)}"' for declared in r_settings()), "  ")


def _listed(pairs: Iterator[str], indent: str, *, ends_with_comma: bool = False) -> Iterator[str]:
    """Lines of pairs that are broken between pairs alone."""
    text = ", ".join(pair.replace(" ", "\0") for pair in pairs) + ("," if ends_with_comma else "")
    for line in textwrap.wrap(text, _WIDTH - len(indent), break_on_hyphens=False):
        yield f"{indent}{line.replace(chr(0), ' ')}"


def with_settings(text: str) -> str:
    """The text of the R file with its parts between the marks as the record has them today."""
    written = {"help": parameters, "arguments": arguments, "kinds": kinds}

    def part(found: re.Match[str]) -> str:
        lines = "".join(f"{line}\n" for line in written[found[2]]())
        return f"{found[1]}# settings: {found[2]}\n{lines}{found[1]}# settings: end\n"

    return _MARKS.sub(part, text)


def main() -> None:
    text = FILE.read_text("utf-8")
    FILE.write_text(with_settings(text), "utf-8")


if __name__ == "__main__":
    main()
