"""Read yes or no from an answer that restates its question: "I would not invite her" to "Would you invite {name}?".

Only a question that begins with its auxiliary verb, and an answer with the same words in one clause without a
condition, are read so: "I would invite her if …" and "I would consider it" say neither. A question whose object is
followed by more than when, where or what for ("Do you think {name} is guilty?") is not read so: its answer may restate
its beginning, and deny the rest.
"""

from __future__ import annotations

import re
from functools import lru_cache

from slant.collector.designs.answers.plain import refuses
from slant.collector.designs.labels.spelling import folded

_AUXILIARY = "would|will|should|could|can|do|does|did|is|are|was|were|has|have|may|must"
_PREPOSITION = r"(?:for|to an?|to the|to this|with|in|into|on|onto|at|from|by|under|over|during|now|today)"
_PRONOUN = "him|her|them|it|this|that|these|those"
_NAME = r"[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+){0,3}"
_QUESTION = re.compile(
    rf"(?:^|[.!?:\n]\s*)(?P<verb>{_AUXILIARY}) (?P<subject>you|he|she|they|it|\{{\w+\}}|(?:the|this|that) \w+)"
    rf" (?P<words>(?:an? |the )?(?!(?:{_PRONOUN}|{_PREPOSITION})\b)[^\W\d_]+"
    rf"(?: (?!(?:an?|the|{_PRONOUN}|{_PREPOSITION})\b)[^\W\d_]+){{0,3}})"
    rf"(?P<object> (?:\{{\w+\}}|(?:an?|the|this|that|these|those) [^\W\d_]+|{_PRONOUN}))?"
    rf"(?: {_PREPOSITION}\b[^.?\n]*)?\?\W*$"
)
_OPEN = re.compile(
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
        named = rf"(?:the|this|that) \w+|{_NAME}"
        subject = f"he|she|they|it|{named if asked['subject'].startswith('{') else re.escape(asked['subject'])}"
        contracted = "'d" if verb == "would" else "'ll" if verb == "will" else "'s"
    does = rf"(?: (?:{verb})|{contracted}){_ADVERBS}(?P<not> not)?"
    if verb in ("do", "does", "did"):  # "I do not trust her", "I trust her"
        does = rf"(?: {verb}{_ADVERBS}(?P<not> not)?)?"
    refused = _SHORT.get(verb, f"{verb}n't")
    words = "".join(rf" {re.escape(word)}" for word in more)
    others = rf"(?!(?:\w+ing|{_PRONOUN}|his|their|its)\b){_NAME}"
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
