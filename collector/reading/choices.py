"""Read answers that name one of several alternatives: yes or no, names, one of the profiles that were shown.

An alternative at the start decides ("Yes, because …"); elsewhere only one may be named, and it must be chosen, not only
mentioned (`labels.py`). Numbered alternatives may be given by their number.

"I would not invite her" to "Would you invite {name}?" says no by restating its question. Only a question that begins
with its auxiliary verb, and an answer with the same words in one clause without a condition, are read so: "I would
invite her if …" and "I would consider it" say neither; nor is a question whose object is followed by more than when,
where or what for ("Do you think {name} is guilty?"): an answer may restate its beginning, and deny the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from slant.collector.reading.labels import mentioned_labels, read_label
from slant.collector.reading.phrases import CALLED, IS_CROSSED, IS_SHARE, NOT_AFTER, OR_ALSO, TAKEN_BACK, TAKES_BACK
from slant.collector.reading.plain import (
    LEAD,
    AnswerReading,
    answered,
    plain_lines,
    read_value,
    refuses,
    without_value,
)
from slant.collector.reading.scales import Scale, read_scale
from slant.collector.reading.spelling import folded, labels_by_spelling
from slant.collector.reading.written_numbers import listed_words
from slant.collector.system.patterns import lazy_pattern

YES_NO = ("yes", "no")
_IDIOMS = lazy_pattern(
    r"\bno (?:one|doubt|question|hesitation|problem|wonder|issues?|concerns?|reservations?|objections?)\b"
)
"""No answers: "no doubt: yes" says yes."""
_YES_NO_WORDS = {word: said for said, words in listed_words("answer") for word in words}
"""Say yes and no in other words and languages; only at the start of an answer that has neither in English."""
_ORDINALS = {word: int(place) - 1 for place, words in listed_words("place") for word in words}
_PERSONS = (
    r"one|person|profile|option|candidate|applicant|profil|kandidat(?:in)?|bewerber(?:in)?|personne|candidate?|personas?"
    r"|candidat[ao]|perfil|pessoa|persona|profilo|persoon|kandidaat|человек|кандидат|个人?|位|名|个候选人|人|个选项"
)
_ARTICLE = r"the|die|der|das|den|la|le|el|il|a|o|de|het|den"
_ORDINAL = lazy_pattern(
    rf"{LEAD}(?:(?:{_ARTICLE})\s+)?({'|'.join(sorted(_ORDINALS, key=len, reverse=True))})\s*(?:{_PERSONS})?[\s.!。]*"
)
_OF_TWO = lazy_pattern(rf"{LEAD}(?:the\s+)?(former|latter)(?:\s+(?:{_PERSONS}))?[\s.!]*")
_KIND = lazy_pattern(r"(?:candidate|applicant|person|option|profile)(?:\s+(?=[^\W\d_]{2})|:\s*)")
_NAME = lazy_pattern(r"[^\W\d_a-z][^\W\d_]+(?:[ '’-][^\W\d_]{2,})*")
_NO_SURNAMES = {
    "i", "i'm", "i'd", "because", "as", "with", "is", "was", "has", "reason", "reasoning", "explanation", "since",
    "due", "the", "this", "they", "she", "he", "her", "his", "their", "and", "or", "but", "not", "for", "while",
    "given", "based", "although", "though", "final", "answer", "choice", "confidence", "why", "please",
}  # fmt: skip
"""How a sentence goes on after a name."""
_AFTER_LETTER = lazy_pattern(
    r" *(?:$|[^\w\s]|\d|\n|(?:i|it|is|was|has|had|would|should|looks|seems|appears|wins|fits|and|or|because|since|as"
    r"|over|not|than|more than|rather|instead|though|although|for|by|with|in|on|if|due|given|based|please|here|then"
    r"|definitely|obviously|certainly|surely|probably)\b)"
)
"""How a sentence goes on after the letter of an option, and not after an article."""


_STRESS = lazy_pattern(
    r"^(?:(?:oh|hell|absolutely|definitely|certainly|clearly|probably|honestly"
    r"|an? (?:resounding|clear|firm|strong|definite|hard|cautious|tentative|big|enthusiastic))\s+)(?=(?:yes|no)\b)"
)
_FIRMLY = lazy_pattern(r"(?:absolutely|definitely|certainly|of course)(?P<no>,? not)?[\s.!]*")
_OF_ONESELF = lazy_pattern(
    r"i(?:'m| am|'d| would| have|'d be| would be| identify as| do)?(?: an?| the)? "
    r"(?P<said>[^.!\n]{1,100}?)[\s.!]*"
)
_OF_NO_ONE = lazy_pattern(
    r"\b(?:if|unless|whether|when|suppose|assuming|some|others?|they|people|would|not|never|false|wrong|said|says|claim\w*"
    r"|argue\w*|first|initially|once|(?:he|she|everyone|nobody) (?:think|believe)s?|thought|believed|may|might)\b|n't\b"
)
"""What makes "the answer is no" a condition, somebody's opinion, an earlier one or its denial."""
_SAYS_SO = (
    r"\b(?:the|my) (?:\w+ )?answer (?:is|remains|must be)\b\W{0,4}"
    r"|(?:^|(?<=[.!?\n])) *(?:(?:so|in short)\W+)?(?:(?:my|the|final|overall|correct) +){0,3}"
    r"(?:answer|verdict|conclusion|decision) *[:=–—-] *"
    r"|(?:^|(?<=[.!?\n])) *(?:therefore|thus|hence|in conclusion|in short|to conclude|overall)\b[,: ]{1,3}"
    rf"|(?:(?<=[.!?\n–—-])|^) *(?:{TAKEN_BACK}|on (?:second thoughts|reflection)"
    r"|i take (?:that|it) back)\b[\s,.:!–—-]*(?:no\b[\s,:–—-]+(?=\w))?"
)
_APOLOGY = lazy_pattern(r"(?:i'm |i am )?(?:very |so |really )?sorry\b[\s,.:–—-]*(?:but\s+)?(?=\w)")


def read_choice(
    answer: str, options: Sequence[str], key: str = "choice", *, numbered: bool = False, question: str = ""
) -> AnswerReading:
    """Return the reading of an answer that is to be one of `options`, as they are spelled; if they are `numbered`, also
    by their number (from 1), and if they are yes and no, also by the words of the `question`.
    """
    return read_value(answer, key, "no_option", lambda text: _read_text(text, tuple(options), numbered, question))


def _read_text(answer: str, options: tuple[str, ...], numbered: bool, question: str) -> AnswerReading:
    text = plain_lines(answer)
    if not text:
        return AnswerReading("malformed", detail="empty")
    if any("-" in option for option in options):
        text = re.sub(r"(?<=[^\W\d_])–(?=[^\W\d_])", "-", text)  # a name with a dash for its hyphen
    said_all = text
    if options == YES_NO:
        text = _STRESS.sub("", _IDIOMS.sub(" ", text).strip())
        if firmly := _FIRMLY.fullmatch(text):
            return answered("no" if firmly["no"] else "yes")
        word = re.match(rf"(?:{CALLED}\s*[:=]\s*|{LEAD})([^\W\d_][^\s,.;:!–—-]*)\s*(?:$|[,.;:!–—\n-])", text)
        if word and (said := _YES_NO_WORDS.get(word[1])) and not mentioned_labels(text, options):
            return answered(said)
    if (own := _OF_ONESELF.fullmatch(text)) and (option := _spelled(options).get(own["said"])) is not None:
        return answered(option)  # "I have no preference", where that is an option
    # "I'm sorry, but no" without its apology, if what follows refuses nothing
    match = _APOLOGY.match(text)
    text = text[match.end() :] if match and not refuses(text[match.end() :]) else text
    if (start := _at_start(text, options)) is not None and not _is_longer_name(answer, start.value, options):
        return _verdict(text, options) or start
    named = mentioned_labels(text, options)
    if len(named) == 1:
        label = read_label(text, options).label
        return answered(label) if label is not None else without_value(text, "option_not_chosen")
    if named:
        read = read_label(text, options)  # "I can't say Anna, so Ben" states one
        return answered(read.label) if read.label is not None else AnswerReading("malformed", detail="several_options")
    if numbered:
        if (place := _ORDINAL.fullmatch(text)) and _ORDINALS[place[1]] < len(options):
            return answered(options[_ORDINALS[place[1]]])
        if (place := _OF_TWO.fullmatch(text)) and len(options) == 2:
            return answered(options[place[1] == "latter"])
        number = read_scale(answer, Scale(1, len(options)))
        if number.value is not None:
            return answered(options[int(number.value) - 1])
    if options == YES_NO and (said := restated_answer(said_all, question)) is not None:
        return answered(said)
    return without_value(text, "no_option")


@lru_cache(1024)
def _spelled(options: tuple[str, ...]) -> dict[str, str]:
    """Return the options by their spelling, the longest first."""
    spelled = labels_by_spelling(options) | {folded(option): option for option in options}
    return dict(sorted(spelled.items(), key=lambda item: (-len(item[0]), item[0])))


def _at_start(text: str, options: tuple[str, ...]) -> AnswerReading | None:
    lead = re.match(rf"[\W_]*{LEAD}[\"'(\[]*", text)
    at = lead.end() if lead else 0
    if (kind := _KIND.match(text, at)) and not any(option.startswith(kind[0]) for option in map(folded, options)):
        at = kind.end()  # "Candidate Emily"
    spelled = _spelled(options)
    for label, option in spelled.items():
        if text.startswith(label, at) and not re.match(r"\w|[-–]\w", text[at + len(label) :]):
            rest, others = text[at + len(label) :], "|".join(map(re.escape, spelled))
            rivals = "|".join(re.escape(name) for name, of in spelled.items() if of != option) or "(?!)"
            contradicts = (
                rf"{OR_ALSO}(?:{others})\b"
                rf"|(?:\W{{0,3}}(?:{rivals})(?![-–]\w)|[^\w.!\n]{{0,3}}(?:{others}))\b(?!\s+(?:would|is|was|seems|means|has|lacks|does)\b)"
            )
            if IS_CROSSED.match(rest) or NOT_AFTER.match(rest) or _is_article(label, rest):
                return None  # "Person 1: no"
            if IS_SHARE.match(rest) and re.search(rf"\b(?:{others})\b{IS_SHARE.pattern}", rest):
                return None  # "Person 1: 40%, Person 2: 60%": what else is said decides
            if label[-1].isdigit() and re.match(r"\s*(?:or|and|to|/|,|&|-)\s*\d", rest):
                return AnswerReading("malformed", detail="several_options")
            if re.match(contradicts, rest) or TAKES_BACK.match(rest) or re.match(r"[^.!\n]{0,80}\?", rest):
                return AnswerReading("malformed", detail="several_options")
            return None if _is_about(rest) else answered(option)
    return None


def _verdict(text: str, options: tuple[str, ...]) -> AnswerReading | None:
    """Return the option that an answer calls its answer, concludes with or corrects itself to, the last time it does;
    None if it never does, or only under a condition or as somebody's opinion."""
    spelled = _spelled(options)
    named = "|".join(map(re.escape, spelled))
    is_answer = rf"(?:{_SAYS_SO})[\"']?({named})\b(?![-–]\w)(?=\W*(?:$|[.!,;\n]))(?!\W*\?)"
    found = [match for match in re.finditer(is_answer, text) if not _OF_NO_ONE.search(_clause(text, match.start()))]
    return answered(spelled[found[-1][1]]) if found else None


def _clause(text: str, end: int) -> str:
    """Return the beginning of a sentence up to a place in it."""
    return text[max(text.rfind(sign, 0, end) for sign in ".!?\n") + 1 : end]


def _is_article(label: str, rest: str) -> bool:
    """Return True for the "a" of "A tough choice", which is no letter of an option."""
    return label in ("a", "i") and not _AFTER_LETTER.match(rest)


def _is_longer_name(answer: str, option: str | None, options: tuple[str, ...]) -> bool:
    """Return True if an answer goes on with a surname after the option: "Anna Lee" does not say Anna. A surname is
    a word of another option, or one in capitals after a name ("Candidate A", a letter or number, is none)."""
    if option is None or not _NAME.fullmatch(option):
        return False
    after = re.search(rf"(?<!\w){re.escape(option)}[ \u00a0]+([^\W\d_][\w'’-]*)", answer, re.IGNORECASE)
    if after is None:
        return False
    word = after[1]
    of_others = {part for other in options if other != option for part in folded(other).split()[1:]}
    is_sentence = word.isupper() or word.endswith("ly") or folded(word) in _NO_SURNAMES
    return folded(word) in of_others or (word[0].isupper() and not is_sentence)


def _is_about(rest: str) -> bool:
    """Return True if what follows makes an option the subject of a sentence ("Person 1 is not suitable")."""
    return re.match(r"\s*(?:is|was|are|has|have|seems?|would|could|may|might|lacks?|can)\b", rest) is not None


_AUXILIARY = "would|will|should|could|can|do|does|did|is|are|was|were|has|have|may|must"
_PREPOSITION = r"(?:for|to an?|to the|to this|with|in|into|on|onto|at|from|by|under|over|during|now|today)"
_PRONOUN = "him|her|them|it|this|that|these|those"
_SURNAMED = r"[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+){0,3}"
_QUESTION = lazy_pattern(
    rf"(?:^|[.!?:\n]\s*)(?P<verb>{_AUXILIARY}) (?P<subject>you|he|she|they|it|\{{\w+\}}|(?:the|this|that) \w+)"
    rf" (?P<words>(?:an? |the )?(?!(?:{_PRONOUN}|{_PREPOSITION})\b)[^\W\d_]+"
    rf"(?: (?!(?:an?|the|{_PRONOUN}|{_PREPOSITION})\b)[^\W\d_]+){{0,3}})"
    rf"(?P<object> (?:\{{\w+\}}|(?:an?|the|this|that|these|those) [^\W\d_]+|{_PRONOUN}))?"
    rf"(?: {_PREPOSITION}\b[^.?\n]*)?\?\W*$"
)
_OPEN = lazy_pattern(
    r"\b(?:if|unless|only|whether|depend\w*|until|might|may|maybe|perhaps|either|or|both|say|said|asked|question"
    r"|provided|providing|assuming|suppos\w+|long as|once|in case|except|otherwise|hardly|barely|scarcely|rarely"
    r"|unlikely|possibly|potentially|conditionally|theoretically|hypothetically|normally|usually|ideally"
    r"|no one|nobody|none|nothing|neither|someone|somebody|anyone|anybody|everyone|everybody|another|others?|else"
    r"|different|instead|against)\b"
)
_ADVERBS = r"(?: (?:\w+ly|indeed|also|still|rather|of course|very much|gladly|very|well))*"
_SHORT = {"will": "won't", "can": "can't|cannot"}


def restated_answer(text: str, question: str) -> str | None:
    """Return "yes" or "no", or None, for a folded text in which neither word stands. `question`: as the study has it,
    with its placeholders."""
    pattern = _restated(folded(question))
    if pattern is None:
        return None
    found = [match for match in pattern.finditer(text) if not _OPEN.search(_sentence(text, match))]
    said = {"no" if match["no"] or match["not"] else "yes" for match in found}
    return said.pop() if len(said) == 1 and not refuses(pattern.sub(" ", text)) else None


@lru_cache(256)
def _restated(question: str) -> re.Pattern[str] | None:
    asked = _QUESTION.search(question)
    if asked is None:
        return None
    verb, (first, *more) = asked["verb"], asked["words"].split()
    if asked["subject"] == "you":
        subject, contracted = "i|we", "'d" if verb == "would" else "'ll" if verb == "will" else "'m"
        verb = {"are": "am", "were": "was"}.get(verb, verb)
    else:
        named = rf"(?:the|this|that) \w+|{_SURNAMED}"
        subject = f"he|she|they|it|{named if asked['subject'].startswith('{') else re.escape(asked['subject'])}"
        contracted = "'d" if verb == "would" else "'ll" if verb == "will" else "'s"
    does = rf"(?: (?:{verb})|{contracted}){_ADVERBS}(?P<not> not)?"
    if verb in ("do", "does", "did"):  # "I do not trust her", "I trust her"
        does = rf"(?: {verb}{_ADVERBS}(?P<not> not)?)?"
    refused = _SHORT.get(verb, f"{verb}n't")
    words = "".join(rf" {re.escape(word)}" for word in more)
    others = rf"(?!(?:\w+ing|{_PRONOUN}|his|their|its)\b){_SURNAMED}"
    whom = rf"(?: (?:{_PRONOUN}|(?:the|this|that|an?) [^\W\d_]+|{others}))?" if asked["object"] else ""
    return re.compile(
        rf"(?:^|(?<=[.!?\n:,] )|(?<=\n))(?:(?:so|thus|therefore|then|but|however|and),? )?(?:{subject})"
        rf"(?:(?P<no> (?:{refused}))|{does}){_ADVERBS} {re.escape(first)}(?:s|es)?{words}{whom}"
        rf"(?=\s*(?:$|[.,;:!\n()–—]|(?:{_PREPOSITION}|because|since|as|based|given|due|and|to)\b))"
    )


def _sentence(text: str, match: re.Match[str]) -> str:
    start = max(text.rfind(sign, 0, match.start()) for sign in ".!?\n") + 1
    end = re.compile(r"[.!?\n]|$").search(text, match.end())
    return text[start : end.start() if end else len(text)]
