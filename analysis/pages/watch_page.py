"""Write the page of `analyze watch`: what has moved, a figure of all occasions, and their table."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from markupsafe import Markup

from slant.analysis.calls.executors import Workers
from slant.analysis.plots.drawing import draw
from slant.analysis.questions.occasions import Watch
from slant.collector.errors import RError, UsageError
from slant.collector.system.scratch import write_whole_file
from slant.collector.system.shipped_files import page_style
from slant.collector.templates import template_environment

_OF_OCCASIONS = ("model", "occasion", "asked_from", "n_trials", "n_answered", "served_models", "cost_usd")
_OF_LATEST = (
    "model", "test", "measure", "term", "first_value", "value", "shift", "conf_low", "conf_high", "since", "is_alarm",
)  # fmt: skip


def write_watch_page(result: Watch, verdict: str, out: Path, alpha: float, workers: Workers = None) -> Path:
    """Write it to `out`; return its path. UsageError if it can't be written there."""
    (figure,) = draw([("plot_watch", result.table)], workers or 1, "svg")
    if isinstance(figure, str):
        raise RError("The figure could not be drawn.", figure)
    latest = result.table.filter(pl.col("occasion") == pl.col("occasion").max().over("model")).select(_OF_LATEST)
    occasions = result.occasions.select(_OF_OCCASIONS).with_columns(pl.col("asked_from").cast(pl.Date))
    tables = [("On the last occasion", latest), ("Occasions", occasions)]
    rounded = [(name, table.with_columns(pl.col(pl.Float64).round_sig_figs(3))) for name, table in tables]
    page = template_environment("slant.analysis.pages", is_html=True).get_template("watch.html.j2").render(
        title="Has the model moved?", verdict=verdict, sentences=[*result.gaps, *result.warnings], tables=rounded,
        image=base64.b64encode(figure.image).decode(), alt=figure.alt_text, alpha=alpha, style=Markup(page_style()),
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )  # fmt: skip
    try:
        write_whole_file(out, page.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f'Can\'t write the page to "{out}": {error.strerror}.', "Name another: --page FILE") from None
    return out.resolve()
