"""Write tables for a paper: any frame as LaTeX or Markdown. What models and files wrote is never a command in it."""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

from slant.collector.arguments import checked_arguments
from slant.collector.errors import UnknownNameError
from slant.collector.markup import escaped_latex, escaped_markdown
from slant.collector.screen_tables import shown_cell

FORMATS = ("latex", "markdown")
_ONE_PAGE = 40  # rows of a table that does not break; a longer one goes over pages
_EXPONENT = re.compile(r"(-?[\d.]+)e([+-]\d+)")


@checked_arguments()
def table_text(frame: pl.DataFrame, table_format: str = "latex", *, caption: str = "", label: str = "") -> str:
    """Return a table in a format of papers, with all rows and columns of `frame`: numbers have six digits and are
    aligned right, unknown values are empty. Raise UnknownNameError for another format.

    LaTeX needs the package booktabs, and longtable for more than 40 rows; texts in other scripts than Latin need
    LuaLaTeX or XeLaTeX. `label` is what `\\ref` takes.
    """
    if table_format not in FORMATS:
        raise UnknownNameError("table format", table_format, FORMATS)
    return (_latex if table_format == "latex" else _markdown)(frame, caption, label)


def _cells(frame: pl.DataFrame, escaped: Callable[[str], str], number: Callable[[str], str]) -> list[list[str]]:
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    return [
        [
            number(shown_cell(value)) if is_number else escaped(shown_cell(value))
            for value, is_number in zip(row, numeric, strict=True)
        ]
        for row in frame.iter_rows()
    ]


def _latex(frame: pl.DataFrame, caption: str, label: str) -> str:
    columns = "".join("r" if dtype.is_numeric() else "l" for dtype in frame.dtypes)
    head = " & ".join(map(escaped_latex, frame.columns)) + r" \\"
    rows = [" & ".join(row) + r" \\" for row in _cells(frame, escaped_latex, _latex_number)]
    named = [rf"\caption{{{escaped_latex(caption)}}}"] if caption else []
    named += [rf"\label{{{re.sub(r'[^A-Za-z0-9:._-]', '-', label)}}}"] if label else []
    if frame.height > _ONE_PAGE:
        needs = "% needs \\usepackage{booktabs,longtable}"
        title = [*named[:-1], *(named[-1:] and [named[-1] + r" \\"])] if caption else []
        body = [rf"\begin{{longtable}}{{{columns}}}", *title, r"\toprule", head, r"\midrule", r"\endhead"]
        return "\n".join([needs, *body, *rows, r"\bottomrule", r"\end{longtable}", ""])
    tabular = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(
        ["% needs \\usepackage{booktabs}", r"\begin{table}", r"\centering", *named, *tabular, r"\end{table}", ""]
    )


def _latex_number(text: str) -> str:
    """Return a number in math, so that its minus is one."""
    if not text:
        return ""
    shown = _EXPONENT.sub(lambda found: rf"{found[1]} \times 10^{{{int(found[2])}}}", text)
    return f"${shown}$" if shown[0] == "-" or shown != text else text


def _markdown(frame: pl.DataFrame, caption: str, label: str) -> str:
    rule = ["---:" if dtype.is_numeric() else "---" for dtype in frame.dtypes]
    rows = [list(map(escaped_markdown, frame.columns)), rule, *_cells(frame, escaped_markdown, str)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    name = f" {{#{re.sub(r'[^A-Za-z0-9:._-]', '-', label)}}}" if label else ""
    return "\n".join([*lines, *(["", f": {escaped_markdown(caption)}{name}"] if caption else []), ""])
