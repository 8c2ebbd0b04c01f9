"""Make numbers from an answer by a function that a study names: how long a text is, how easy, how many of its words are
in a list; whether one option was chosen."""

from __future__ import annotations

import math
import re
import runpy
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from slant.collector.errors import UsageError
from slant.collector.reading.spelling import folded
from slant.collector.system.shipped_files import r_script

FUNCTIONS = ("length_words", "readability", "lexicon", "option")
TYPED = "typed"
"""Name what a person's own function made, which is named on the command line alone (`collect reread --measure`)."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+")
_SENTENCE = re.compile(r"[.!?…]+(?:\s|$)|\n{2,}")
_VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True)
class TextMeasure:
    """Hold one measure: a function of the answers to a question. A lexicon's `words` are folded; one that ends in *
    matches every word that begins like it. For the share of an option, they are that option alone. `call` is a
    person's own function; None if what it made is only kept."""

    question: str
    function: str
    words: tuple[str, ...] = ()
    call: Callable[[str], float | None] | None = None

    @property
    def unit(self) -> str:
        """Return the unit of the numbers; "" for those of a person's own function."""
        return f"share of {self.words[0]}" if self.function == "option" else _UNITS.get(self.function, "")

    def value(self, text: str) -> float | None:
        """Return the number of an answer; None if it has none."""
        if self.call is not None:
            return self.call(text)
        if self.function == "option":
            return float(folded(text) == self.words[0])
        words = _WORD.findall(text)
        if self.function == "lexicon":
            return _share(words, self.words)
        return _OF_WORDS[self.function](words, text)


def _length(words: Sequence[str], text: str) -> float | None:
    return float(len(words))


def _readability(words: Sequence[str], text: str) -> float | None:
    """Return Flesch's reading ease (1948) of an English text, 0 to 100 for most; vowels count syllables."""
    if not words:
        return None
    n_sentences = max(1, len([part for part in _SENTENCE.split(text) if _WORD.search(part)]))
    n_syllables = sum(map(_syllables, words))
    return 206.835 - 1.015 * len(words) / n_sentences - 84.6 * n_syllables / len(words)


def _syllables(word: str) -> int:
    """Return the groups of vowels of a word, without an e at its end that is silent."""
    word = word.lower()
    n = len(_VOWELS.findall(word))
    is_silent = word.endswith("e") and not word.endswith(("le", "ee")) and n > 1
    return max(1, n - is_silent)


def _share(words: Sequence[str], lexicon: Sequence[str]) -> float | None:
    """Return the share of words that are in a list."""
    if not words:
        return None
    whole = {entry for entry in lexicon if not entry.endswith("*")}
    begun = tuple(entry[:-1] for entry in lexicon if entry.endswith("*"))
    found = [word for word in map(folded, words) if word in whole or (begun and word.startswith(begun))]
    return len(found) / len(words)


_UNITS = {"lexicon": "share of words", "length_words": "words", "readability": "points of reading ease"}
_OF_WORDS: dict[str, Callable[[Sequence[str], str], float | None]] = {
    "length_words": _length,
    "readability": _readability,
}


def typed_function(file: Path, name: str) -> Callable[[str], float | None]:
    """Return the function `name` of a person's Python file or R script, from a text to a number (None for a missing
    one). UsageError if the file has none, and from the function if it fails or gives something else."""
    if not file.is_file() or file.suffix.lower() not in (".py", ".r"):
        raise UsageError(f'"{file}" is no Python file or R script.', f"As in: --measure {name}={name}.py")
    try:
        make = _of_r(file, name) if file.suffix.lower() == ".r" else runpy.run_path(str(file))[name]
    except Exception as error:  # whatever a person's file raises
        raise UsageError(f'Can\'t take the function "{name}" from {file.name} ({error!r}).') from None

    def measured(text: str) -> float | None:
        try:
            value = float("nan" if (made := make(text)) is None else made)
        except Exception as error:
            raise UsageError(
                f'The function "{name}" of {file.name} gives no number of an answer ({error!r}).'
            ) from None
        return value if math.isfinite(value) else None

    return measured


def _of_r(file: Path, name: str) -> Callable[[str], str]:
    """Return a function that asks an R process, which ends with this one."""
    command = ["Rscript", "--vanilla", str(r_script("measure_texts.R")), str(file.resolve()), name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stdin is not None
    assert process.stdout is not None
    given, said = process.stdin, process.stdout

    def measured(text: str) -> str:
        given.write(f"{quote(text)}\n")
        given.flush()
        while line := said.readline():  # a script may print, too
            if line == "value\n":
                return said.readline().replace("NA", "nan")
        raise EOFError("R has stopped; what it says is above")

    return measured
