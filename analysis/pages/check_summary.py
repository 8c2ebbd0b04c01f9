"""Summarise the checks for the report: what they found, cautions first, and where the page with their numbers is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

from slant.analysis.questions.checks.check_findings import Checks
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.questions.checks.study_checks import checks_not_made, findings_made
from slant.collector.system.files import opened, regular_files
from slant.collector.terminal import count_text

PAGE_NAME = "check.html"
"""Propose this name for the page of checks in the report."""
_ORDER = ("caution", "note", "not found", "not checked")
_HEAD = 4_000  # bytes within which a page of checks names its study


@dataclass(frozen=True)
class PageOfChecks:
    """Hold a page that `analyze check --out` made: its address from a page in the same folder, its name, its time."""

    href: str
    name: str
    made_at: str


@dataclass(frozen=True)
class CheckSummary:
    """Hold the findings of one source, version and variant, cautions first; `counts` says how many of each there are.
    `links`: the place of each finding on the page of checks."""

    title: str
    counts: str
    findings: list[Finding]
    links: dict[str, str]


@dataclass(frozen=True)
class SummaryOfChecks:
    """Hold what a report shows of checks. `not_made`: names of checks that would need further fits; `page` is None if
    no page of checks is next to the report."""

    parts: list[CheckSummary]
    not_made: list[str]
    warnings: list[str]
    page: PageOfChecks | None


def summary_of_checks(checks: Checks, out: Path) -> SummaryOfChecks:
    """Return the summary of checks for a report that is written to `out`."""
    page = page_of_checks(out, checks.study.name)
    parts = [_part(grain, its, page) for grain, its in findings_made(checks)]
    not_made = [check.check.replace("_", " ") for check in checks_not_made(checks)]
    return SummaryOfChecks(parts, not_made, checks.warnings, page)


def finding_id(grain: dict[str, str], check: str) -> str:
    """Return the anchor of a finding on the page of checks."""
    return re.sub(r"[^\w-]", "-", "-".join((*map(str, grain.values()), check)))


def marker(study: str) -> str:
    """Return what the head of a page of checks contains, so that a report next to it can link to it."""
    return f'<meta name="slant-checks" content="{escape(study)}">'


def page_of_checks(out: Path, study: str) -> PageOfChecks | None:
    """Return the newest page of checks of this study in the folder of `out`; None if there is none."""
    found = [path for path in regular_files(out.parent, "*check*.html") if path.name != out.name]
    own = [path for path in found if _is_of(path, study)]
    if not own:
        return None
    newest = max(own, key=lambda path: path.stat().st_mtime)
    made_at = datetime.fromtimestamp(newest.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return PageOfChecks(quote(newest.name), newest.name, made_at)


def _is_of(path: Path, study: str) -> bool:
    try:
        with opened(path) as file:
            return marker(study).encode() in file.read(_HEAD)
    except OSError:
        return False


def _part(grain: dict[str, str], its: list[Finding], page: PageOfChecks | None) -> CheckSummary:
    ordered = sorted(its, key=lambda finding: _ORDER.index(finding.standing))
    n = Counter(finding.standing for finding in its)
    words = {"caution": count_text(n["caution"], "caution"), "note": count_text(n["note"], "note")}
    words |= {"not found": f"{n['not found']} without objection", "not checked": f"{n['not checked']} not checked"}
    counts = ", ".join(words[standing] for standing in _ORDER if n[standing])
    title = f"{grain['source'].capitalize()} data, variant {grain['variant']}, version {grain['study_version']}"
    links = {} if page is None else {one.check: f"{page.href}#{finding_id(grain, one.check)}" for one in its}
    return CheckSummary(title, counts, ordered, links)
