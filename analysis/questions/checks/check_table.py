"""The table of checks, checks.toml: what each of them asks, what R is given for it, and how its finding is written.

Keys: `of` (`mixed_model`: of studies that have one and no checks of answers; `answers`: of every design that has a
`checked_view`; `choices`: of those that have a `choice`, too; without it, of designs that name the check in `checks`),
`holds_for` (the answers that it is about: "all" of them, or a fact of their source, as "is_of_models" for what only
models have, such as tokens; see collector/sources.py), `check` (its name, if its key is another), `question` (none if
the finding of another check speaks of its rows; {answers}, {condition} and {option} are words of the design), `rows`
(what these hold), `columns` of its rows that are shown, `needs` (the checks whose rows its finding reads, if not its
own), `kept_by` (the command that makes its rows, if a check only reads what is kept).

Of a check that R makes: `takes` (names of arguments; a design adds its own), `function` (if not `check_` and its key),
`reads` (the rows that R is given, see check_calls.py; if not all trials), `of_each` (what `by` is: "cell", "model" or
"variant"), `packages` of R, `refits` (true if it fits the study's mixed model again).

How a finding is written (without these keys, check_findings.py has a function for it): `caution` (a condition in SQL,
of rows for which a conclusion depends on something), `one_of` (columns of which each combination counts once),
`sentence`, `details` (always), `each` (of each row with `caution`), `advice` (last, if there is one).

What could have been found, which every check with a rule says where it found nothing: `found_nothing` (of the row in
which the expression `worst` is largest); of counts `none_of` (how many were looked at, NULL in a row that has one).

In braces are columns of the rows, and how their values are shown: {skewness:spread}, {d:number}, {p:number 3}, {p:p},
{rate:percent 0}, {n:,}. In `sentence` and `details` a column is all of its values, and {caution:cell} is how many cells
have the condition `caution` ("3 of 39 cells", or another noun); {reference} and {other} are the labels of the two
conditions, {alpha} and {bound} as they were given. In `each` a column is that row's, model, test and condition are its
labels, {cell} is both of the first, {in_condition} all three.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from slant.collector.designs.design import Design
from slant.collector.designs.study import Study
from slant.collector.errors import DesignError
from slant.collector.sources import facts_of

_FILE = Path(__file__).with_name("checks.toml")
_OF_TRIALS = ("trials", "answered", "complete")
_OF_FITS = ("effects", "estimates", "leave_one_out", "over_words", "variances")
_MADE = {
    "of": ("mixed_model", "answers", "choices"),
    "of_each": ("cell", "model", "variant"),
    "takes": ("by", "contrast", "levels", "levels_by_factor", "outcome", "formula", "alpha", "bound", "with_words"),
}
"""By key, what check_calls.py makes of it."""


@dataclass(frozen=True)
class Rule:
    """Say how the finding of a check is written; see the keys of these names in the table."""

    caution: str
    sentence: str
    one_of: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    each: str = ""
    advice: str = ""


@dataclass(frozen=True)
class CheckInfo:
    """Hold one check of the table. needs: at least one check. kept_by: "" where the check itself makes its rows. takes:
    empty where R makes none of them. key: its own in the table."""

    key: str
    check: str
    needs: tuple[str, ...]
    function: str
    rule: Rule | None
    holds_for: str
    of: tuple[str, ...] = ()
    question: str = ""
    columns: tuple[str, ...] = ()
    kept_by: str = ""
    reads: str = "trials"
    of_each: str = "cell"
    takes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    refits: bool = False
    worst: str = ""
    found_nothing: str = ""
    none_of: str = ""

    def is_about(self, source: object) -> bool:
        """Return True if it can be asked of answers of this source."""
        return self.holds_for == "all" or bool(getattr(facts_of(source), self.holds_for))


@functools.cache
def _table() -> tuple[CheckInfo, ...]:
    return tuple(_read(key, row) for key, row in tomllib.loads(_FILE.read_text("utf-8")).items())


def _read(key: str, row: Mapping[str, Any]) -> CheckInfo:
    """Return a check. DesignError if it needs something that nothing computes: otherwise it would disappear
    silently."""
    check = row.get("check", key)
    of = row.get("of", ())
    own_rows = (*_OF_TRIALS, *(() if of else ("profiles",)), *(_OF_FITS if "mixed_model" in of else ()))
    keys = {field.name for kind in (CheckInfo, Rule) for field in fields(kind)} | {"rows"}
    made = {**_MADE, "reads": own_rows, "key": tuple(keys)}
    for name, value in (*row.items(), ("key", list(row))):
        wanted = [value] if isinstance(value, str) else value
        if name in made and (unmade := [one for one in wanted if one not in made[name]]):
            raise DesignError(
                f'The check "{key}" has {name} = "{unmade[0]}", and nothing makes that of it.',
                f"It can have: {', '.join(sorted(made[name]))}",
            )
    if "sentence" in row and not {"worst", "found_nothing"} <= set(row):
        raise DesignError(f'The check "{key}" must say what it could have found: worst and found_nothing.')
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items() if name != "rows"
    }
    said: dict[str, Any] = {field.name: given.pop(field.name) for field in fields(Rule) if field.name in given}
    usual = {"key": key, "check": check, "needs": (check,), "function": f"check_{key}"}
    return CheckInfo(**usual | given, rule=Rule(**said) if "sentence" in said else None)


def mixed_model_checks() -> tuple[CheckInfo, ...]:
    """Return the checks of a mixed model, in the order of the page."""
    return tuple(check for check in _table() if "mixed_model" in check.of)


def checks_of(design: Design) -> tuple[CheckInfo, ...]:
    """Return the checks of a design, in the order of the page: those of answers, or of the mixed model.

    DesignError if it names one that is not in the table.
    """
    known = [check.key for check in _table()]
    if unknown := [name for name in design.analyses.checks if name not in known]:
        raise DesignError(
            f'The design "{design.name}" names a check "{unknown[0]}", and there is none.',
            f"Checks: {', '.join(known)}",
        )
    if not design.analyses.checked_view:
        return mixed_model_checks()
    of = {"answers", "choices"} if design.analyses.choice else {"answers"}
    return tuple(check for check in _table() if of & set(check.of) or check.key in design.analyses.checks)


def checks_of_study(study: Study) -> tuple[CheckInfo, ...]:
    """Return the checks of its design that this study has something for."""
    own = study.design.analyses.check_arguments(study)
    return tuple(
        one for one in checks_of(study.design) if one.key not in study.design.analyses.checks or one.key in own
    )


def question_of(check: CheckInfo, design: Design) -> str:
    """Return the question of a check, in the words of a design."""
    words = design.analyses.vocabulary
    return check.question.format(answers=words.answers, condition=words.condition, option=words.option)
