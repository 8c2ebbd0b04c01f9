"""Snapshots of the sentences that mistakes end in: each once, with the calls below it that it answers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping

_FUNCTION = re.compile(r"(\w+)\((\w+) ?= ?(.*)\)", re.DOTALL)
_OPTION = re.compile(r"(.*) (--[\w-]+)=(.*)", re.DOTALL)


def by_sentence(told: Mapping[str, str]) -> str:
    """The page of a snapshot: what is said, with `…` for the argument (and function) that it names, then who says so
    of which argument and values. Each call is there once, so that no sentence changes unseen."""
    answered: dict[str, dict[str, dict[str, list[str]]]] = {}
    for call, sentence in told.items():
        match = _FUNCTION.fullmatch(call) or _OPTION.fullmatch(call)
        caller, argument, value = match.groups() if match else (call, "", "")
        calls = answered.setdefault(_general(sentence, caller, argument), {})
        calls.setdefault(caller, {}).setdefault(argument, []).append(value)
    return "".join(f"{sentence}\n{''.join(_lines(calls))}" for sentence, calls in answered.items())


def _general(sentence: str, caller: str, argument: str) -> str:
    if not argument:
        return sentence
    sentence = re.sub(rf"^{re.escape(caller)}\(\)", "…()", sentence)
    return re.sub(rf"`{argument}`|(?<=^…\(\): ){argument}\b|(?<!\w){argument}(?=[='\"])", "…", sentence)


def _lines(calls: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    callers: dict[str, list[str]] = {}
    for caller, values in calls.items():
        said = "; ".join(f"{argument}={' | '.join(of_it)}" for argument, of_it in values.items() if argument)
        callers.setdefault(said, []).append(caller)
    for said, by in callers.items():
        line = f"{', '.join(by)}{said and ': '}{said}"
        wrapped = textwrap.wrap(line, 120, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False)
        yield "".join(f"{part}\n" for part in wrapped)
