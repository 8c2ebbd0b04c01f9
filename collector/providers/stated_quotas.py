"""Read whose span a limit of Google's has: of a minute, of a day, or nothing at all.

Its sentence ("You exceeded your current quota, please check your plan and billing details") is the same for all of
them, so the details decide: quotaId, a limit of 0, RetryInfo. Gateways hand them on as text within text, with quotation
marks of any kind: the names are looked up in the whole body.
"""

from __future__ import annotations

import re
from typing import Literal

from slant.collector.system.patterns import lazy_pattern

_QUOTE = r"\\{0,6}['\"]"
_IDS = lazy_pattern(rf"(?:quotaId|quota_limit|quotaMetric|quota_metric){_QUOTE} ?: ?{_QUOTE}([\w./-]+)")
_METRICS = lazy_pattern(r"quota exceeded for (?:quota )?(?:metric:?|\S*googleapis\.com/)[^\n]{0,200}", re.IGNORECASE)
_ZERO = lazy_pattern(
    rf"(?:quotaValue|quota_limit_value){_QUOTE} ?: ?(?:{_QUOTE})?0(?![0-9.])|googleapis\.com/[\w/]+, limit: 0(?![0-9.])"
)
_DAY = lazy_pattern(r"per_?day|per day", re.IGNORECASE)
_MINUTE = lazy_pattern(r"per_?(?:minute|second)|per (?:minute|second)", re.IGNORECASE)
_EXHAUSTED = lazy_pattern(
    r"RESOURCE_EXHAUSTED|google\.rpc\.(?:RetryInfo|QuotaFailure)|ai\.google\.dev/gemini-api/docs/rate"
)
_SPENT = lazy_pattern(r"prepa(?:id|yment)|credits|spend", re.IGNORECASE)


def stated_quota(body: str) -> Literal["stop", "day", "again"] | None:
    """Return what a body says about a quota of Google's; None if it names none. A limit of 0 is like a spent one: no
    wait makes room."""
    if not _EXHAUSTED.search(body) and not _METRICS.search(body):
        return None
    if _ZERO.search(body):
        return "stop"
    named = " ".join([*_IDS.findall(body), *(found[0] for found in _METRICS.finditer(body))])
    if _DAY.search(named):
        return "day"
    return None if _SPENT.search(body) and not _MINUTE.search(named) else "again"
