"""Make numbers from an answer by a function that a study names: how long a text is, how easy, how many of its words are
in a list; whether one option was chosen."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slant.collector.reading.spelling import folded

FUNCTIONS = ("length_words", "readability", "lexicon", "option")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+")
_SENTENCE = re.compile(r"[.!?…]+(?:\s|$)|\n{2,}")
_VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True)
class TextMeasure:
    """Hold one measure: a function of the answers to a question. A lexicon's `words` are folded; one that ends in *
    matches every word that begins like it. For the share of an option, they are that option alone."""

    question: str
    function: str
    words: tuple[str, ...] = ()

    def value(self, text: str) -> float | None:
        """Return the number of an answer; None if it has none."""
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


_OF_WORDS: dict[str, Callable[[Sequence[str], str], float | None]] = {
    "length_words": _length,
    "readability": _readability,
}
