"""Read lists of pairs as models write them: which word of a list was given to which of two groups?

A line is WORD SIGN GROUP. Signs are dashes of any script, `:`, `=`, `,`, `|`, arrows, or only a blank; numbers,
bullets, bold, quotes and code fences around it don't matter, nor do case and apostrophes. What comes first wins:
 1 one such pair, or several in a line
 2 several words and then their group ("best-excellent-church", "best, excellent: church")
 3 a group and then its words ("Church: best, excellent"), or a group as a heading and its words in the lines below
The first or last part of a name with several parts is enough, if it is a part of names of one group only. A word given
twice to one group counts once, given to both it counts for neither. Everything else is counted, not guessed.
Source of the rules: tests/collector/test_pairs.py says how often each occurs in 4,000 published answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from slant.collector.reading.spelling import without_tags
from slant.collector.system.patterns import lazy_pattern

LONGEST_READ = 40_000
"""Limit the characters that are read at the end of an answer: a list of some 2,000 pairs."""
_LONGEST_LINE = 4_000
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－⁃╌─־᠆〜～"), "-")
_GONE = dict.fromkeys(map(ord, "'’‘ʼ`´\"“”„«»「」『』*[]({}<\x00\u200b\u200c\u200d\ufeff\ufe0f"), None)
_PLAIN = _DASHES | _GONE | {ord("→"): "=", ord("⇒"): "=", ord("➔"): "=", ord("："): ":", ord("，"): ","}
_PLAIN |= {
    ord("、"): ",",
    ord("。"): ".",
    ord("．"): ".",
    ord("；"): ";",
    ord("｜"): "|",
    ord("\xa0"): " ",
    ord("\t"): "=",
    ord("_"): " ",
    ord(">"): "=",
}
_LEAD = lazy_pattern(r"[-•·▪◦‣+#|= ]*(?:\d{1,3}(?:[.):]| -) *)?")
_PICTURES = ("So", "Sk")
_NO_LEAD = lazy_pattern(
    r"\b(?:not|never|cannot|(?:ca|wo|do|does|is|are|would|should)nt|without|instead|example|format|such as|like)\b"
)
"""Match what a line may not say before its first pair if that is to count."""
_SIGN = r"(?: *[-:=,|]+ *| )"
_BETWEEN = lazy_pattern(r"[-:=,;|/. ]*(?:and )?")
MISSING, BOTH = ".", "x"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Hold what an answer gives. `sides` has one character for each word of the list, in its order: "a" or "b" for its
    group, "x" for both, "." for neither. `n_invented`: words that were not in the list; `n_repeated`: words that were
    given more than once; `n_unread`: lines that say something else."""

    sides: str
    n_invented: int = 0
    n_repeated: int = 0
    n_unread: int = 0

    @property
    def n_given(self) -> int:
        return len(self.sides) - self.sides.count(MISSING) - self.sides.count(BOTH)

    @property
    def reading(self) -> str:
        """Return complete (every word has exactly one group), partial (some have) or unread (none has)."""
        return "complete" if self.n_given == len(self.sides) else "partial" if self.n_given else "unread"


def read_pairs(answer: str, words: Sequence[str], groups: Mapping[str, str]) -> Pairs:
    """Read pairs. `words`: the list as it was shown; `groups`: the names of the groups, each with its side, "a" or
    "b"."""
    listed = [plain(word) for word in words]
    known = _known(tuple(sorted(listed)), tuple(groups.items()))
    given: dict[str, str] = {}
    n_invented = n_repeated = n_unread = 0
    heading = None
    for number, line in enumerate(_lines(answer[-LONGEST_READ:])):
        pairs = known.pairs(line)
        if pairs is None and number == 0:
            pairs = known.pairs_after_lead(line)
        if pairs is None and (side := known.sides.get(line.rstrip(" :-="))) is not None:
            heading = side
            continue
        if pairs is None and heading is not None and (below := known.listed(line)):
            pairs = [(word, heading) for word in below]
        if pairs is None:
            is_invented = known.ends_with_group(line)
            n_invented += is_invented
            n_unread += not is_invented
            continue
        for word, side in pairs:
            n_repeated += word in given
            given[word] = side if given.get(word, side) == side else BOTH
    return Pairs("".join(given.get(word, MISSING) for word in listed), n_invented, n_repeated, n_unread)


def named_groups(answer: str, groups: Mapping[str, str]) -> dict[str, str]:
    """Return the one name of each side ("a", "b") that an answer mentions, if it is unknown which were shown; a side
    with no or several mentioned names is left out.
    """
    text = "\n".join(_lines(answer[-LONGEST_READ:]))
    mentioned = _any_name(tuple(groups)).findall(text)
    names_of_side = {
        side: {name for name in groups if groups[name] == side and plain(name) in mentioned} for side in "ab"
    }
    return {side: names.pop() for side, names in names_of_side.items() if len(names) == 1}


@lru_cache(256)
def _any_name(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({any_of(map(plain, names))})(?!\w)")


def plain(text: str) -> str:
    """Return a text that is the same for all spellings of a word or name: case, apostrophes, quotes, kinds of dash and
    blank don't count."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_PLAIN).replace(")", "").casefold().split())


def _lines(answer: str) -> Iterable[str]:
    text = unicodedata.normalize("NFC", without_tags(answer) if "<" in answer else answer)
    for line in text.replace("```", "\n").translate(_PLAIN).casefold().splitlines():
        one_line = _without_pictures(" ".join(line[:_LONGEST_LINE].split())).strip(".,;!| ")
        start = _LEAD.match(one_line).end()  # type: ignore[union-attr]
        stripped = one_line[start:].replace(")", "").rstrip()
        if any(map(str.isalnum, stripped)):
            yield stripped


def _without_pictures(line: str) -> str:
    """Return a line without emoji at its ends."""
    if line.isascii():
        return line
    while line and unicodedata.category(line[0]) in _PICTURES:
        line = line[1:].lstrip()
    while line and unicodedata.category(line[-1]) in _PICTURES:
        line = line[:-1].rstrip()
    return line


class _Known:
    """Find the words and groups of one list. Most answers need none of the patterns."""

    def __init__(self, words: tuple[str, ...], groups: tuple[tuple[str, str], ...]) -> None:
        self.sides = group_names(groups)
        self._is_word = frozenset(words)

    @cached_property
    def _pair(self) -> re.Pattern[str]:
        return re.compile(rf"({any_of(self._is_word)}){_SIGN}({any_of(self.sides)})(?!\w)")

    @cached_property
    def _word(self) -> re.Pattern[str]:
        return re.compile(rf"({any_of(self._is_word)})(?!\w)")

    @cached_property
    def _last_group(self) -> re.Pattern[str]:
        return re.compile(rf"(?:^|[-:=,| ])({any_of(self.sides)})$")

    @cached_property
    def _first_group(self) -> re.Pattern[str]:
        return re.compile(rf"({any_of(self.sides)})(?: *[-:=|]+ *)")

    def pairs(self, line: str) -> list[tuple[str, str]] | None:
        """Return the pairs of a line; None if anything in it is not a pair."""
        word, sign, group = line.rpartition(" - ")  # nearly every line is only this
        if sign and word in self._is_word and group in self.sides:
            return [(word, self.sides[group])]
        return self._pairs_in(line) or self._words_then_group(line) or self._group_then_words(line)

    def pairs_after_lead(self, line: str) -> list[tuple[str, str]] | None:
        """Return the pairs that a first line ends with, after words such as "Answer:" or "Sure!"; None if it does not,
        or says that they are none."""
        for match in self._word.finditer(line):
            if match.start() and line[match.start() - 1] in " :" and (pairs := self._pairs_in(line[match.start() :])):
                return None if _NO_LEAD.search(line[: match.start()]) else pairs
        return None

    def ends_with_group(self, line: str) -> bool:
        """Return True for a pair whose word was not in the list: a few words, a sign, and a group."""
        match = self._last_group.search(line)
        before = line[: match.start() + 1] if match else ""
        return re.fullmatch(r"[^-:=|]{1,60}[-:=|] ?", before) is not None

    def listed(self, line: str) -> list[str] | None:
        """Return the words of a line of words alone; None for another one."""
        at, words = 0, []
        while at < len(line):
            match = self._word.match(line, at)
            if match is None:
                return None
            words.append(match[1])
            at = _BETWEEN.match(line, match.end()).end()  # type: ignore[union-attr]
        return words

    def _pairs_in(self, line: str) -> list[tuple[str, str]] | None:
        at, pairs = 0, []
        while at < len(line):
            match = self._pair.match(line, at)
            if match is None:
                return None
            pairs.append((match[1], self.sides[match[2]]))
            at = _BETWEEN.match(line, match.end()).end()  # type: ignore[union-attr]
        return pairs

    def _words_then_group(self, line: str) -> list[tuple[str, str]] | None:
        match = self._last_group.search(line)
        listed = self.listed(line[: match.start()].rstrip(" -:=,|")) if match else None
        return [(word, self.sides[match[1]]) for word in listed] if match and listed else None

    def _group_then_words(self, line: str) -> list[tuple[str, str]] | None:
        match = self._first_group.match(line)
        listed = self.listed(line[match.end() :]) if match else None
        return [(word, self.sides[match[1]]) for word in listed] if match and listed else None


_known = lru_cache(4096)(_Known)  # a study has a few lists and asks them thousands of times


def any_of(names: Iterable[str]) -> str:
    """Return the longest first, so that a name wins over one that it begins with."""
    return "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name)))) or r"(?!)"


def group_names(groups: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the side of each name, and of the first and last part of names with several, if these belong to one
    side.
    """
    whole = {plain(name): side for name, side in groups}
    parts: dict[str, set[str]] = {}
    for name, side in whole.items():
        pieces = name.split()
        if len(pieces) > 1:
            for piece in (pieces[0], pieces[-1]):
                parts.setdefault(piece, set()).add(side)
    return {part: next(iter(sides)) for part, sides in parts.items() if len(sides) == 1} | whole
