"""Write one page about what a paper does not say, as text, Markdown or HTML. Whatever a model, a file or a user wrote
is escaped, and the page may load nothing from anywhere.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
from markupsafe import Markup

from slant.analysis.calls.executors import Workers
from slant.analysis.pages.report_tables import text_table
from slant.analysis.plots.drawing import PAGE_DPI, draw, embedded
from slant.analysis.questions.checks.check_calls import has_checks
from slant.analysis.questions.checks.check_findings import Checks, findings, rows_of
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.questions.checks.study_checks import checks_not_made, findings_made
from slant.analysis.rows.cells import LABELS, MEASURED
from slant.collector.errors import UsageError
from slant.collector.markup import escaped_markdown
from slant.collector.screen_tables import in_digits
from slant.collector.system.files import opened, regular_files
from slant.collector.system.scratch import write_whole_file
from slant.collector.templates import template_environment
from slant.collector.terminal import count_text, printable

STANDINGS = {"not found": "not found", "note": "note", "caution": "CAUTION", "not checked": "not checked"}
_SHOWN = ("check", "standing", "verdict")
_MARGIN = " " * 12
_DRAWN = {"residuals": "Residual plots", "first_option": "Choices by place"}
_ROWS = {"words": "crossed"}  # a finding from two checks shows the rows of the one that says more


def as_rows(checks: Checks) -> pl.DataFrame:
    """Return a row per finding: source, study_version, variant, check, standing, verdict, details."""
    return pl.DataFrame(
        {**grain, **{name: getattr(one, name) for name in _SHOWN}, "details": " ".join(one.details)}
        for grain, its in findings(checks)
        for one in its
    )


def as_json(checks: Checks) -> str:
    """Return findings, warnings, and the rows of every check, for machines."""
    about = {"study": checks.study.name, "alpha": checks.alpha, "bound": checks.bound}
    found = {"findings": as_rows(checks).to_dicts(), "warnings": checks.warnings}
    rows = {name: rows.to_dicts() for name, rows in checks.rows.items()}
    return json.dumps({**about, **found, "rows": rows}, ensure_ascii=False, indent=1, default=str)


def as_text(checks: Checks, width: int = 110) -> str:
    """Return the page for a terminal: verdicts first, the numbers below each."""
    lines = [_title(checks), checks.study.source]
    for grain, grain_findings in findings(checks):
        title = f"{grain['source'].upper()} data, variant {grain['variant']}, version {grain['study_version']}"
        lines += ["", title, "", *(line for finding in grain_findings for line in _finding_lines(finding, width))]
    return "\n".join(printable(line) for line in lines)


def _title(checks: Checks) -> str:
    question = "what the paper does not say" if checks.study.published else "what a reader should know"
    return f"{checks.study.title}: {question}"


def _finding_lines(finding: Finding, width: int) -> Iterator[str]:
    mark = STANDINGS[finding.standing].ljust(len(_MARGIN))
    yield from textwrap.wrap(finding.verdict, width, initial_indent=mark, subsequent_indent=_MARGIN)
    for detail in finding.details:
        yield from textwrap.wrap(detail, width, initial_indent=f"{_MARGIN}- ", subsequent_indent=f"{_MARGIN}  ")
    yield ""


def write_page(checks: Checks, out: Path, workers: Workers = None) -> Path:
    """Write the page to a file that ends in .html (with figures) or .md; return its path."""
    ending = check_ending(out)
    sections = [_section(checks, grain, grain_findings, ending, workers) for grain, grain_findings in findings(checks)]
    environment = template_environment(
        "slant.analysis.pages", is_html=ending == ".html", filters={"md": escaped_markdown}
    )
    template = environment.get_template(f"check{ending}.j2")
    page = template.render(
        title=_title(checks),
        citation=checks.study.source,
        standings=STANDINGS,
        warnings=checks.warnings,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sections=sections,
        alpha=checks.alpha,
        bound=checks.bound,
        bound_matters="equivalence" in checks.rows,
        drawn=_DRAWN,
        marker=Markup(marker(checks.study.name)),
        finding_id=finding_id,
    )
    try:
        write_whole_file(out, page.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f'Can\'t write the page to "{out}": {error.strerror}.', "Name another: --out FILE") from None
    return out.resolve()


def check_ending(out: Path) -> str:
    """Return the ending of the page's name: .html or .md; UsageError for any other, before time is spent."""
    if out.suffix.lower() not in (".html", ".md"):
        raise UsageError(f'Can\'t write the page to "{out}": its name must end in .html or .md.')
    return out.suffix.lower()


def _section(
    checks: Checks, grain: dict[str, str], grain_findings: list[Finding], ending: str, workers: Workers
) -> dict[str, Any]:
    rows = rows_of(checks, grain)
    tables = {
        finding.check: text_table(_shown(rows[name], finding))
        for finding in grain_findings
        if (name := _ROWS.get(finding.check, finding.check)) in rows and finding.columns
    }
    figures = _figures(checks, grain, rows, workers) if ending == ".html" and has_checks(checks.study) else []
    drawn = [finding.check for finding in grain_findings if finding.check in _DRAWN][:1]
    return {**grain, "grain": grain, "findings": grain_findings, "tables": tables, "figures": figures, "drawn": drawn}


def _shown(rows: pl.DataFrame, finding: Finding) -> pl.DataFrame:
    """Return the rows of a check for the page: only prompts, words and games that matter."""
    if finding.check in ("influence", "game_influence"):
        rows = rows.filter(pl.col("is_influential") | pl.col("changes_conclusion"))
    if finding.check == "left_out":
        largest_change = pl.col("change").abs().max().over("model", "test", "condition")
        rows = rows.filter(pl.col("carries_effect") | (pl.col("change").abs() == largest_change))
    columns = [name for name in finding.columns if name in rows.columns]
    return in_digits(rows.select("model", "test", *columns), 3)


def _figures(
    checks: Checks, grain: dict[str, str], rows: dict[str, pl.DataFrame], workers: Workers
) -> list[dict[str, Any]]:
    """Draw what the study's design is checked for first: residuals by model, or the places of options."""
    trials = checks.trials.filter(**grain)
    if not checks.study.design.analyses.checked_view:
        columns = ["source", *(name for name in LABELS if name != "model_no"), "condition", "wording", *MEASURED]
        parts = [part for _, part in trials.select(columns).group_by("model", maintain_order=True)]
        return [
            embedded(figure) for figure in draw([("plot_residuals", part) for part in parts], workers, dpi=PAGE_DPI)
        ]
    places = rows.get("first_option", pl.DataFrame(schema={"n": pl.Int32})).drop_nulls("n")
    if places.is_empty():
        return []
    for keys in (["model"], ["test"], ["condition"]):
        labels = trials.select(*keys, f"{keys[0]}_label", f"{keys[0]}_no").unique(keys)
        places = places.join(labels, on=keys, how="left", maintain_order="left")
    return [embedded(figure) for figure in draw([("plot_first_options", places)], workers, dpi=PAGE_DPI)]


PAGE_NAME = "check.html"
"""Propose this name for the page of checks in the report."""
_ORDER = ("caution", "note", "not found", "not checked")
_HEAD = 4_000  # bytes within which a page of checks names its study


def summary_of_checks(checks: Checks, out: Path) -> dict[str, Any]:
    """Return the part about checks of a report written to `out`: `warnings`; `not_made`, the names of checks that
    would need further fits; `page`, see page_of_checks(); and `parts`, one for each source, version and variant: its
    `title` and `findings`, cautions first, `counts` of each standing, `links` to their places on the page of checks."""
    page = page_of_checks(out, checks.study.name)
    parts = [_part(grain, its, page) for grain, its in findings_made(checks)]
    not_made = [check.check.replace("_", " ") for check in checks_not_made(checks)]
    return {"parts": parts, "not_made": not_made, "warnings": checks.warnings, "page": page}


def finding_id(grain: dict[str, str], check: str) -> str:
    """Return the anchor of a finding on the page of checks."""
    return re.sub(r"[^\w-]", "-", "-".join((*map(str, grain.values()), check)))


def marker(study: str) -> str:
    """Return the mark in the head of a page of checks by which a report next to it finds it, to link to it."""
    return f'<meta name="slant-checks" content="{escape(study)}">'


def page_of_checks(out: Path, study: str) -> dict[str, str] | None:
    """Return the newest page of checks of this study in the folder of `out`: its address from there (href), its name,
    and when it was made (made_at); None if there is none."""
    found = [path for path in regular_files(out.parent, "*check*.html") if path.name != out.name]
    own = [path for path in found if _is_of(path, study)]
    if not own:
        return None
    newest = max(own, key=lambda path: path.stat().st_mtime)
    made_at = datetime.fromtimestamp(newest.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"href": quote(newest.name), "name": newest.name, "made_at": made_at}


def _is_of(path: Path, study: str) -> bool:
    try:
        with opened(path) as file:
            return marker(study).encode() in file.read(_HEAD)
    except OSError:
        return False


def _part(grain: dict[str, str], its: list[Finding], page: dict[str, str] | None) -> dict[str, Any]:
    ordered = sorted(its, key=lambda finding: _ORDER.index(finding.standing))
    n = Counter(finding.standing for finding in its)
    words = {"caution": count_text(n["caution"], "caution"), "note": count_text(n["note"], "note")}
    words |= {"not found": f"{n['not found']} without objection", "not checked": f"{n['not checked']} not checked"}
    counts = ", ".join(words[standing] for standing in _ORDER if n[standing])
    title = f"{grain['source'].capitalize()} data, variant {grain['variant']}, version {grain['study_version']}"
    links = {one.check: f"{page['href']}#{finding_id(grain, one.check)}" for one in its} if page else {}
    return {"title": title, "counts": counts, "findings": ordered, "links": links}
