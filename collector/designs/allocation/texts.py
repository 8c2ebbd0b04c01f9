"""Word an allocation game: the texts that a study file gives, and how a turn is made from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError
from slant.collector.study.records import REASONING_BACK
from slant.collector.study.toml_table import Table, checked_name

BETWEEN = "\n\n"  # between the preamble or the outcome of a round and the next round, in one message of the user


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """Define how an answer is requested: what is added to a question, the marker before the answer (empty: none),
    whether its first or last occurrence counts, and how an outcome is reported. With a `tool` (its name) a choice is a
    call of it, and the outcome what the call returns."""

    addon: str
    marker: str
    marker_at: str
    outcome: str
    tool: str = ""
    tool_description: str = ""


@dataclass(frozen=True, slots=True)
class Texts:
    """Hold the templates of a study. None: the study has no such turn. `parts` are pieces of the preamble by name."""

    system: str | None
    preamble: str
    parts: Mapping[str, str]
    class_line: str
    class_separator: str
    round: str
    outcome_success: str
    outcome_failure: str
    reminder: str
    question: str | None
    first_query: str | None
    next_query: str | None
    answers: Mapping[str, AnswerFormat]


_TOOL = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
NAME_OF_ANSWERS = "answer"  # of the tool that is the structured output (collector/providers/tools.py)
TOOL_ARGUMENT = "group"
_GROUPS = ("groups", "groups_and")
_OF_ROUND = ("class", *_GROUPS, "candidates", "round")
_OF_OUTCOME = ("job", "class", "points", "total", "group", "round")


def parse_texts(prompt: Table) -> Texts:
    """Return the texts; StudyError if one is missing or has an unknown placeholder."""
    parts = {checked_name(name, "part"): prompt.table("parts").text(name) for name in prompt.mapping("parts")}
    texts = Texts(
        system=prompt.optional_text("system"),
        preamble=_checked(prompt, "preamble", (), (*_GROUPS, "rounds", "classes", *parts), ""),
        parts=parts,
        class_line=_checked(prompt, "class_line", ("jobs",), ("class",), "{class}: {jobs}"),
        class_separator=prompt.text("class_separator", "\n"),
        round=_checked(prompt, "round", ("job",), _OF_ROUND),
        outcome_success=_checked(prompt, "outcome_success", (), _OF_OUTCOME),
        outcome_failure=_checked(prompt, "outcome_failure", (), _OF_OUTCOME),
        reminder=_checked(prompt, "reminder", (), _GROUPS),
        question=_optional(prompt, "question", ("job", "job_singular", *_GROUPS)),
        first_query=_optional(prompt, "first_query", ("job", "job_singular")),
        next_query=_optional(prompt, "next_query", ("job", "job_singular")),
        answers={name: _format(row) for name, row in prompt.tables("answers").items()},
    )
    prompt.finish()
    if not texts.answers:
        raise StudyError(f"{prompt.where} needs a format of answers, as in [prompt.answers.direct].")
    for name in texts.answers:
        if "." in name or name in REASONING_BACK:
            raise StudyError(
                f'An answer format in {prompt.where} can\'t be called "{name}".',
                f"It must have no point in its name, and not be {' or '.join(REASONING_BACK)}.",
            )
    return texts


def _format(row: Table) -> AnswerFormat:
    answer_format = AnswerFormat(
        row.text("addon", ""),
        row.text("marker", ""),
        row.choice("marker_at", ("last", "first")),
        _checked(row, "outcome", ("outcome",), (), "{outcome}"),
        row.text("tool", ""),
        row.text("tool_description", ""),
    )
    row.finish()
    if answer_format.tool and (not _TOOL.fullmatch(answer_format.tool) or answer_format.tool == NAME_OF_ANSWERS):
        raise StudyError(
            f'The tool in {row.where} can\'t be called "{answer_format.tool}".',
            f'Letters, digits and underscores, 64 at most, and not "{NAME_OF_ANSWERS}": as in tool = "assign"',
        )
    return answer_format


def _checked(
    table: Table, key: str, needed: tuple[str, ...], allowed: tuple[str, ...], default: str | None = None
) -> str:
    text = table.text(key, default)
    check_placeholders(text, needed, allowed, f"{key} of {table.where}")
    return text


def _optional(table: Table, key: str, allowed: tuple[str, ...]) -> str | None:
    text = table.optional_text(key)
    if text is not None:
        check_placeholders(text, (), allowed, f"{key} of {table.where}")
    return text


def listed(names: Sequence[str]) -> str:
    """Return "Tufa, Aima, Reku, and Weki"."""
    *head, last = names
    return f"{', '.join(head)}, and {last}" if len(head) > 1 else " and ".join(names)


def group_texts(names: Sequence[str]) -> dict[str, str]:
    """Return the names of groups as texts: {groups} is "Tufa, Aima", {groups_and} is "Tufa and Aima"."""
    return {"groups": ", ".join(names), "groups_and": listed(names)}


def spoken_points(points: float) -> str:
    """Return 1, 0, 1.5, 1.33: at most two decimals."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def with_addon(text: str, answer: AnswerFormat) -> str:
    return f"{text}\n{answer.addon}" if answer.addon else text
