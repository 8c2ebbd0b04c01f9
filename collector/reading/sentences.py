"""Find the labels that the sentences of an answer choose, from the context of each mention.

All texts are folded (`spelling.py`). A label is chosen by what precedes it in its clause ("I'd put it under …") or
follows it ("… is correct"), and by a clause that is the label alone; never where its clause negates it or refuses.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from slant.collector.reading import phrases
from slant.collector.reading.spelling import WRAPPING, any_label, has_edges, label_of

Stand = Literal["chosen", "against", "neutral", "one_of_several"]

_NEAR = 200
"""Limit the characters around a label that decide whether it is chosen."""
_MAX_MENTIONS = 50
"""Limit the mentions of labels at the end of a sentence that are examined."""
LONGEST_QUOTE = 80
"""Limit the characters of an answer that are quoted as the words that decided."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Hold a label in a sentence, its role there, the words around it, and whether these draw a conclusion."""

    label: str
    stand: Stand
    words: str
    is_conclusion: bool


def mentions_in(text: str, by_bare: Mapping[str, str], item: str, *, plural: bool) -> list[Mention]:
    """Return the mentions of labels in a text, in order. `by_bare`: the labels by their folded spellings."""
    mentions: list[Mention] = []
    refused: Refused = None
    for sentence in filter(None, map(str.strip, phrases.SENTENCES.split(text))):
        mentions += _in_sentence(sentence, by_bare, item, plural=plural, refused=refused)
        refused = _refused_at(sentence, len(sentence), by_bare, refused)
    return mentions


Refused = frozenset[str] | None
"""What a refusal before a place is about: None if there was none, or a "but" since; the labels that it refuses to give
("I can't say Slow"); no labels if it refuses as a whole."""


def _refused_at(sentence: str, end: int, by_bare: Mapping[str, str], refused: Refused) -> Refused:
    """Return the refused labels at a position of a sentence, in which or before which the refusal came."""
    start = max(0, end - 1_000)
    refusals = [match for match in phrases.CAN_NOT.finditer(sentence, start, end) if _is_own(sentence, match)]
    if not refusals and refused is None:
        return None
    last = refusals[-1].end() if refusals else start
    if phrases.CONTRAST_WORD.search(sentence, last, end):
        return None
    if not refusals:
        return refused
    over = phrases.CLAUSES.search(sentence, last)
    labels = any_label(tuple(by_bare), False).finditer(sentence, last, over.start() if over else len(sentence))
    named = frozenset(label_of(match, by_bare) for match in labels)
    return named if refused is None or (named and refused) else frozenset()


def _is_left(sentence: str, match: re.Match[str], label: str, start: int, refused: frozenset[str]) -> bool:
    """Return True for the label that is left where only another one is refused ("I can't say Slow, so Quick"), and for
    one that concludes in spite of a refusal ("I can't decide, so Quick")."""
    clause = sentence[start : match.start()]
    if phrases.ONLY_MAY_BE.search(clause):
        return False
    if refused and label not in refused:
        is_listed = start > 0 and sentence[:start].rstrip().endswith(",") and not clause.strip(WRAPPING)
        is_listed = is_listed and not phrases.REASON_FIRST.match(sentence)  # "Since I can't say Slow, Quick."
        return not is_listed and bool(phrases.CONCLUDES_LEFT.search(clause) or phrases.NOTHING_ELSE.fullmatch(clause))
    is_set_off = start > 0 and sentence[:start].rstrip().endswith((",", ";", ":", "-", "–", "—"))
    return not refused and is_set_off and bool(phrases.SO_ONLY.fullmatch(clause))


def leading_label(text: str, by_bare: Mapping[str, str]) -> Mention | None:
    """Return the label that a text begins with, if it is set off from what follows ("Quick. A tractor …")."""
    start = text.lstrip(WRAPPING)
    match = any_label(tuple(by_bare), False).match(start)
    if match is None:
        return None
    after = start[match.end() :]
    is_set_off = re.match(
        r"[\"'*)\]}]*\s*(?:[.!;:(\n]|,\s*(?!(?:and|or)\b)|[–—]|\s-\s"
        r"|\s\(?[\d.]+\s*%|\s*←"
        r"|\s(?:because|since|as it|as the|given|rather than|instead of|not)\b|\s*/\s*not\b)",
        after,
    )
    is_lettered = len(match[0]) == 1 and after.startswith(")")  # "B) Slow"
    if (
        not (is_set_off or is_lettered)
        or phrases.IS_TICKED.match(after)
        or phrases.IS_CROSSED.match(after)
        or phrases.CORRECTS.search(after)
        or phrases.IS_WRONG.match(after)
        or (phrases.IS_SHARE.match(after) and any_label(tuple(by_bare), False).search(after))
        or _is_followed_by_another(after, by_bare)
    ):
        return None
    words = " ".join(start[: match.end() + 40].split())
    return Mention(label_of(match, by_bare), "chosen", words[:LONGEST_QUOTE], False)


def _is_followed_by_another(after: str, by_bare: Mapping[str, str]) -> bool:
    """Return True if a label comes next that is no subject of a sentence ("Quick: Slow is for city words"; it is one
    after a comma: "Quick, Slow is the answer"), or after one in brackets ("Quick (country) / Slow (city)"), or if the
    line lists one ("Quick - tractor - Slow")."""
    if any(part.strip(WRAPPING) in by_bare for part in phrases.LIST_MARKS.split(after.split("\n", 1)[0])[1:]):
        return True
    rest = re.sub(r"^[\"'*)\]}]*\s*\([^()\n]{0,80}\)(?=\s*(?:[/,;|]|or\b|and\b))", "", after)
    match = any_label(tuple(by_bare), False).match(rest.lstrip(WRAPPING + ("/orand" if rest != after else "")))
    if match is None:
        return False
    if phrases.IS_WRONG.match(match.string, match.end()):
        return False
    is_listed = re.match(r"[\"'*)\]}]*\s*,", after) is not None
    return is_listed or not phrases.IS_DESCRIBED.match(match.string, match.end())


def _in_sentence(
    sentence: str, by_bare: Mapping[str, str], item: str, *, plural: bool, refused: Refused
) -> Iterator[Mention]:
    matches = list(any_label(tuple(by_bare), plural).finditer(sentence)) if by_bare else []
    matches = [match for match in matches[-_MAX_MENTIONS:] if _is_named(sentence, match)]
    if not matches:
        return
    starts = [0, *(match.end() for match in phrases.CLAUSES.finditer(sentence))]
    if sentence.rstrip("\"')*]").endswith("?"):
        stands: list[Stand] = ["neutral"] * len(matches)
    else:
        stands = [_stand(sentence, match, matches[:place], starts, item) for place, match in enumerate(matches)]
        for place, (one, other) in enumerate(pairwise(matches)):
            is_another = stands[place] != "against" and label_of(one, by_bare) != label_of(other, by_bare)
            is_either = phrases.EITHER.search(sentence, 0, one.start()) is not None
            if (is_another or is_either) and phrases.ALTERNATIVES.fullmatch(sentence, one.end(), other.start()):
                stands[place] = stands[place + 1] = "one_of_several"
            elif is_another and (of_rule := _stands_by_rule(sentence, one, other, item)) is not None:
                stands[place : place + 2] = of_rule
    stands = [
        "one_of_several" if stand == "chosen" and _is_listed(sentence, match, by_bare, item) else stand
        for match, stand in zip(matches, stands, strict=True)
    ]
    if len({label_of(match, by_bare) for match in matches if phrases.IS_SHARE.match(sentence, match.end())}) > 1:
        stands = ["one_of_several"] * len(matches)
    for match, stand in zip(matches, stands, strict=True):
        if stand == "chosen" and (about := _refused_at(sentence, match.start(), by_bare, refused)) is not None:
            start = starts[bisect_right(starts, match.start()) - 1]
            stand = "chosen" if _is_left(sentence, match, label_of(match, by_bare), start, about) else "against"
        words = " ".join(sentence[max(0, match.start() - 50) : match.end() + 10].split())[-LONGEST_QUOTE:]
        is_aside = sentence[: match.start()].endswith("(")
        concludes = not is_aside and bool(
            phrases.CONCLUDES.search(sentence, max(0, match.start() - _NEAR), match.start())
        )
        yield Mention(label_of(match, by_bare), stand, words, concludes)


def _stands_by_rule(sentence: str, one: re.Match[str], other: re.Match[str], item: str) -> tuple[Stand, Stand] | None:
    """Return the stands of two labels in a rule on what goes with each ("put tea with Lively and coffee with Calm"):
    the one of the word in question is chosen, else none; None if the words are no such rule."""
    by = phrases.OF_RULE.search(sentence, max(0, one.start() - _NEAR), one.start())
    second = phrases.SECOND_OF_RULE.fullmatch(sentence, one.end(), other.start())
    if by is None or second is None or by["by"] != second["by"] or phrases.FIRST_PERSON.search(second[0]):
        return None
    if _names(second[0], item):
        return "neutral", "chosen"
    return ("chosen", "neutral") if _names(sentence[: one.start()], item) else ("one_of_several", "one_of_several")


def _names(text: str, item: str) -> bool:
    """Return True if a text names the word in question, or says "it"."""
    words = [word for word in (item, *item.split()) if len(word) > 3 or word == item] if item else []
    return bool(phrases.ITEM_BY_PRONOUN.search(text)) or any(word[: max(3, len(word) - 2)] in text for word in words)


def _is_listed(sentence: str, match: re.Match[str], by_bare: Mapping[str, str], item: str) -> bool:
    """Return True for one word of a list: of several in brackets or quotes ("[Lively, Calm]"), or of a sentence that is
    nothing but words; the word in question and its label ("[oolong, Lively]") are no list."""
    if phrases.IS_TICKED.match(sentence, match.end()):
        return False
    opens = phrases.OPENS_A_LIST.fullmatch(sentence, max(0, match.start() - 2), match.start())
    if opens and re.fullmatch(r"\s*,[^\]\"]*", sentence[match.end() :]):
        return True  # "[Quick, " and then cut off
    for group in phrases.GROUPS.finditer(sentence):
        if group.start() < match.start() and match.end() < group.end():
            parts = [part.strip(WRAPPING) for part in phrases.LIST_MARKS.split(group[0])]
            others = [part for part in parts if part != match[0] and not (item and part == item)]
            is_words = all(len(part.split()) == 1 and not phrases.NOTHING_ELSE.fullmatch(part) for part in others)
            return match[0] in parts and bool(others) and is_words
    parts = [part for part in _parts(sentence) if part and part != item and not phrases.NAMES_PART.fullmatch(part)]
    n_labels = len({by_bare[part] for part in parts if part in by_bare})
    is_list = all(len(part.split()) == 1 for part in parts) and (len(parts) > 3 or (len(parts) > 2 and n_labels > 1))
    return is_list and match[0] in parts


@lru_cache(8)
def _parts(sentence: str) -> tuple[str, ...]:
    return tuple(part.strip(WRAPPING) for part in phrases.LIST_MARKS.split(sentence))


def _is_named(sentence: str, match: re.Match[str]) -> bool:
    """Return False for "a", "no" and single letters if they are not labels but words of the sentence."""
    bare = match[0]
    if bare not in phrases.NOT_IN_PROSE and (len(bare) > 1 or not has_edges(bare)):
        return True
    if sentence.strip(WRAPPING) == bare:
        return True
    before = sentence[max(0, match.start() - _NEAR) : match.start()]
    if not before.strip(WRAPPING) and phrases.IS_CHOSEN.match(sentence, match.end()):
        return True
    return bool(phrases.ENDS_SHORT.match(sentence, match.end()) and phrases.NAMES_SHORT.search(before))


def _stand(
    sentence: str, match: re.Match[str], earlier_matches: list[re.Match[str]], starts: list[int], item: str
) -> Stand:
    """Return whether a label is chosen by what precedes it in its clause, and follows it."""
    start = starts[bisect_right(starts, match.start()) - 1]
    previous = earlier_matches[-1].end() if earlier_matches else 0
    clause = phrases.NO_NEGATION.sub(" ", sentence[max(start, match.start() - _NEAR) : match.start()])
    before = phrases.NO_NEGATION.sub(" ", sentence[max(start, previous, match.start() - _NEAR) : match.start()])
    earlier = sentence[max(0, start - _NEAR) : start]
    after = sentence[match.end() : match.end() + _NEAR]
    if (
        earlier_matches
        and phrases.ARROW_ONLY.fullmatch(sentence, previous, match.start())
        and phrases.BEFORE_NEGATED.search(sentence, 0, earlier_matches[-1].start())
    ):
        return "chosen"  # "not Slow → Quick"
    is_no = phrases.BEFORE_NEGATED.search(clause) or phrases.NEGATION.search(clause) or phrases.REFUSAL.search(clause)
    if phrases.IS_WRONG.match(after) or phrases.NOT_AFTER.match(after) or is_no:
        return "against"
    if sentence[:start].endswith("(") and _is_negated_before(sentence, start, starts):
        return "against"  # "isn't a city word (Slow)"
    if re.search(r"\brather\s+[\"'*]*$", clause) and re.match(r"[\"'*]*,?\s+than\b", after):
        return "chosen"
    if (
        phrases.ANOTHER_IS.search((earlier + before)[-_NEAR:])
        or phrases.ANYTHING_BUT.search(earlier + clause)
        or phrases.IS_CROSSED.match(after)
    ):
        return "against"
    if phrases.IS_TICKED.match(after):
        return "chosen"
    if phrases.DEGREE.search(clause) and not phrases.MAYBE_AS.search(clause):
        return "neutral"
    if phrases.IS_CHOSEN.match(after):
        return "chosen"
    if phrases.RESTATES_TASK.search(clause) or phrases.WHAT_IS.search(before):
        return "neutral"  # "we need to identify which words get Quick", "the label for what is lively"
    if phrases.VERB_AFTER.match(after) and phrases.OWN_BEFORE.fullmatch(before):
        return "chosen"
    if not phrases.FOLLOWS.match(after) or phrases.IS_DESCRIBED.match(after):
        return "neutral"
    if phrases.CHOSEN_ABROAD.fullmatch(before) or (before.strip(WRAPPING) and phrases.CHOSEN_IN_HAN.fullmatch(before)):
        return "chosen"
    by_verb = phrases.CHOSEN_BY.search(before)
    if by_verb and (
        phrases.CONCEDES.match(clause)
        or phrases.DESCRIBES.search(before, 0, max(by_verb.end("verb"), by_verb.end("weak")))
        or not _is_chosen_for(before, by_verb, item, earlier)
    ):
        by_verb = None  # "the instruction to call it Slow" chooses nothing
    if by_verb or phrases.NOTHING_ELSE.fullmatch(before):
        # "such as Quick", "the labels are: Quick" name it; a clause that is only the label concludes what came before
        return "chosen" if before.strip() or earlier.strip() or not after.strip(WRAPPING) else "neutral"
    copula = phrases.COPULA.search(before)
    return "chosen" if copula and _is_about_the_item(before[: copula.end()], item) else "neutral"


def _is_negated_before(sentence: str, start: int, starts: list[int]) -> bool:
    """Return True if the clause before a bracket, which names its label once more, is negated."""
    of_clause = starts[bisect_right(starts, start - 2) - 1]
    return bool(phrases.NEGATION.search(sentence, max(of_clause, start - _NEAR), start))


def _is_chosen_for(before: str, by_verb: re.Match[str], item: str, earlier: str) -> bool:
    """Return True if another person's verb ("names should be put under …") is about the word in question."""
    subject = earlier[-20:] + before if phrases.GOES_ON_WITH.match(before) else before  # "I would | still go for"
    is_first_person = phrases.FIRST_PERSON.search(subject) is not None
    is_rule = bool(item) and phrases.PUTS_ANOTHER.search(before) is not None  # "put tea with Lively"
    is_own = is_first_person or (not is_rule and not before[: by_verb.start()].strip(WRAPPING))
    return is_own or _is_about_the_item(before, item)


def _is_about_the_item(subject: str, item: str) -> bool:
    """Return True if a sentence "… is Quick" is about the word, or about the answer: then it chooses."""
    stem = item[: max(3, len(item) - 2)]
    if item and stem not in subject and phrases.WORD_FOR.search(subject):
        return False  # "the word for light is Lively"
    return not item or bool(phrases.ITS_NAMES.search(subject)) or stem in subject


def own_refusal(text: str) -> str:
    """Return the words by which an answer that names a label still refuses; none if something else
    "can't".
    """
    for match in phrases.REFUSAL.finditer(text):
        if _is_own(text, match):
            return " ".join(text[_clause_start(text, match) : match.end() + 40].split())[:LONGEST_QUOTE]
    return ""


_INABILITY = re.compile(
    r"(?:can't|cannot|can not|won't|will not|should not|shouldn't|unable to|not able to|not going to|not being able to"
    r"|not (?:be )?appropriate|inappropriate)$"
)


def refuses_task(text: str) -> bool:
    """Return whether a text in which nothing else is clear refuses the task: what somebody or something else can't,
    won't or shouldn't do ("the server cannot start") has nothing to do with it."""
    found = (_is_own(text, match) or not _INABILITY.match(match[0]) for match in phrases.REFUSAL.finditer(text))
    return any(found) or bool(phrases.EVASION.search(text))


def _is_own(text: str, match: re.Match[str]) -> bool:
    """Return True for a refusal by the answerer ("I can't", "can't comply"), not for a word that "can't be"
    something."""
    before, after = text[_clause_start(text, match) : match.start()], text[match.end() : match.end() + 60]
    return not before.strip(WRAPPING) or bool(
        phrases.OWN.search(before) or phrases.OWN.search(match[0]) or phrases.ASKED_FOR.search(after)
    )


def _clause_start(text: str, match: re.Match[str]) -> int:
    return max(text.rfind(sign, max(0, match.start() - _NEAR), match.start()) for sign in ".!?\n;,") + 1
