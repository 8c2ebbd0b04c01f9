"""Write one result as a page: what it says in a sentence, its figure, and its tables."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from markupsafe import Markup

from slant.analysis.calls.executors import Workers
from slant.analysis.plots.drawing import draw
from slant.collector.errors import RError, UsageError
from slant.collector.system.scratch import write_whole_file
from slant.collector.system.shipped_files import page_style
from slant.collector.templates import template_environment


def write_result_page(
    out: Path,
    title: str,
    sentences: Sequence[str],
    drawn: tuple[str, pl.DataFrame],
    tables: Mapping[str, pl.DataFrame],
    workers: Workers = None,
) -> Path:
    """Write it to `out`; return its path. UsageError if it can't be written there."""
    (figure,) = draw([drawn], workers or 1, "svg")
    if isinstance(figure, str):
        raise RError("The figure could not be drawn.", figure)
    rounded = [(name, table.with_columns(pl.col(pl.Float64).round_sig_figs(3))) for name, table in tables.items()]
    page = template_environment("slant.analysis.pages", is_html=True).get_template("result.html.j2").render(
        title=title, sentences=sentences, tables=rounded,
        image=base64.b64encode(figure.image).decode(), alt=figure.alt_text, style=Markup(page_style()),
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )  # fmt: skip
    try:
        write_whole_file(out, page.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f'Can\'t write the page to "{out}": {error.strerror}.', "Name another: --page FILE") from None
    return out.resolve()
