"""What a stranger may have put into a folder of word lists (`collect studies new --lists`), and the sentence for it.

`become` changes a folder that write_lists() has filled; None where the study is written, and its texts are theirs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LISTS = """\
category,dataset,A,B,C,D
race,age,white,black,joy,glee
race,age,pale,dark,love,bliss
race,age,,,evil,bad
race,age,,,pain,ache
"""
PROMPTS = """\
task,stereotype,variation,models,turn,text
wat,,v1,gpt+claude,1,Pair {attributes} with {group0} or {group1}.
decision,age,v1,gpt,1,"Task 1: Describe {group0} and {group1}.

Task 2: Who gets {attribute0}, who {attribute1}?"
chained,age,v1,gpt,1,"Task 1: Pair {attributes} with {group0} or {group1}.

Task 2: Describe them.

Task 3: Who gets {attribute0}, who {attribute1}?"
absolute,age,default_positive,gpt,1,"Task 1: Describe {group0}.

Task 2: Does {group0} get {attribute0}?"
"""
WORDS = "stereotype,variation,side,word\nage,v1,positive,lead\nage,v1,negative,follow\n"


@dataclass(frozen=True)
class HostileLists:
    name: str
    design: str
    become: Callable[[Path], object]
    sentence: str | None


def write_lists(folder: Path) -> None:
    for name in ("iat_stimuli.csv", "iat_stimuli_synonym.csv"):
        (folder / name).write_text(LISTS)
    (folder / "prompts.csv").write_text(PROMPTS)
    (folder / "decision_words.csv").write_text(WORDS)


def _changed(file: str, old: str, new: str) -> Callable[[Path], object]:
    def become(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return become


def _instead(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def become(folder: Path) -> None:
        (folder / "prompts.csv").unlink()
        make(folder / "prompts.csv")

    return become


def _both_lists(old: str, new: str) -> Callable[[Path], object]:
    def become(folder: Path) -> None:
        for name in ("iat_stimuli.csv", "iat_stimuli_synonym.csv"):
            _changed(name, old, new)(folder)

    return become


def _with_carriage_return(folder: Path) -> None:
    _changed("prompts.csv", "Pair {attributes} with {group0} or {group1}.\ndec", f'"{_LINES}"\ndec')(folder)


_LINES = "Pair\r{attributes} with {group0} or {group1}."
_P, _D = "pairing", "decision"
LISTS_OF_STRANGERS = (
    HostileLists("lacks a file", _P, _instead(lambda path: None), "it is not a file"),
    HostileLists("has a pipe", _P, _instead(os.mkfifo), "it is not a file"),
    HostileLists("has a device by a link", _P, _instead(lambda p: p.symlink_to("/dev/zero")), "it is not a file"),
    HostileLists(
        "has another file by a link", _P, _instead(lambda p: p.symlink_to("/etc/passwd")), "must have the col"
    ),
    HostileLists("has 2 GB", _P, lambda folder: os.truncate(folder / "prompts.csv", 2 * 10**9), "larger than 8 MB"),
    HostileLists("has a cell of 200 kB", _P, _changed("prompts.csv", "Pair", "x" * 200_000), "larger than field limit"),
    HostileLists("holds NUL", _P, _changed("prompts.csv", "Pair", "Pa\0ir"), "holds a NUL character"),
    HostileLists("reads what Python knows", _P, _changed("prompts.csv", "Pair", "{x.__class__}"), "no placeholder"),
    HostileLists("leaves a brace open", _P, _changed("prompts.csv", "Pair", "Pair {"), "A brace is left open"),
    HostileLists(
        "has synonyms of no test", _P, _changed("iat_stimuli_synonym.csv", ",age,", ",z,"), "(of the synonyms) "
    ),
    HostileLists("calls a test HTML", _P, _both_lists(",age,", ",<script>,"), "can't be called"),
    HostileLists("calls a wording a path", _P, _changed("prompts.csv", ",v1,", ",../v1,"), "can't be called"),
    HostileLists("has a group without words", _P, _both_lists(",white,", ",,"), None),
    HostileLists("has no words at all", _P, _both_lists("joy", ""), None),
    HostileLists("has one name for both groups", _P, _both_lists("black", "white"), "is in both group_a and group_b"),
    HostileLists("has a carriage return in a text", _P, _with_carriage_return, None),
    HostileLists("speaks of a STUDY", _P, _changed("prompts.csv", "Pair", "STUDY: pair"), None),
    HostileLists("asks of no test", _D, _changed("prompts.csv", ",age,", ",z,"), 'test (of prompts.csv) "z"'),
    HostileLists(
        "asks of no side", _D, _changed("prompts.csv", "default_positive", "nonsense"), '"nonsense" in prompts.csv'
    ),
    HostileLists("asks of half a side", _D, _changed("prompts.csv", "default_positive", "default"), "column about"),
    HostileLists(
        "has words of one side", _D, _changed("decision_words.csv", "v1,positive", "v2,positive"), "lacks words"
    ),
    HostileLists("has words of no side", _D, _changed("decision_words.csv", "positive", "x"), "which are unknown"),
    HostileLists("asks everything twice", _D, lambda f: (f / "prompts.csv").write_text(PROMPTS * 2), "must end with"),
    HostileLists("cuts off a text", _D, _changed("prompts.csv", '"Task 1: Describe {group0}.', '"'), "has not 2 tasks"),
)
