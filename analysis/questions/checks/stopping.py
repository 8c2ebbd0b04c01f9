"""When collecting ended, where the width of intervals decided that: by which rule, and whether it was registered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slant.analysis.questions.checks.registration import Registered
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.rows.cells import GRAIN
from slant.collector.registration.canonical import document_of, registered_rule
from slant.collector.stopping.looks import Look, looks_by_plan, looks_clause

STOPPING = "stopping"
_QUESTION = "When did collecting end?"


def looks_in(looks: Sequence[Look], grain: Mapping[str, str]) -> list[Look]:
    """Return those at one source, study version and variant."""
    return [look for look in looks if all(getattr(look, name) == grain[name] for name in GRAIN)]


def stopping_finding(looks: Sequence[Look], labels: Mapping[str, str], known: Registered | None) -> Finding:
    """Return what looks at one source, study version and variant say; at least one of them."""
    rules = list(dict.fromkeys(look.rule for look in looks))
    registered = None if known is None else registered_rule(document_of(known.registration))
    by_plan = looks_by_plan(looks).values()
    if registered is None:
        standing, rule = "note", "by a rule that was not registered"
    elif rules == [registered]:
        standing, rule = "not found", "by the rule that was registered"
    else:
        standing, rule = "caution", f"by another rule than was registered ({registered})"
    several = f" There were {len(rules)} rules, one after the other; this is the last." if len(rules) > 1 else ""
    return Finding(
        STOPPING,
        _QUESTION,
        standing,
        f"It was to end on precision, {rule}: {rules[-1]}.{several}",
        (
            rules[-1].sentences(looks[-1].outcome),
            _with_margin(looks),
            *(f"{labels.get(made[-1].model, made[-1].model)}: {looks_clause(made)}." for made in by_plan),
        ),
    )


def _with_margin(looks: Sequence[Look]) -> str:
    """Say that the interval of a run that ended is the one with the margin; how wide that is."""
    margins = sorted({cell.width_margin for look in looks for cell in look.widths if cell.width_margin is not None})
    span = "" if not margins else f" ({margins[0]:.2f} to {margins[-1]:.2f} times as wide)"
    return (
        f"The interval of a model that ended because it was narrow is its effect ± the width at that look{span}: the "
        "model's own is too narrow then, for a run ends rather where the variance is underestimated."
    )
