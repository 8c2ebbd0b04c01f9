"""Recognise explicit refusals, as models write them when they are asked for one label."""

from __future__ import annotations

import re

from slant.collector.system.patterns import lazy_pattern

_BUT_NONE = (
    r"(?!,?\s+(?:(?:really|even|quite|honestly|possibly|ever|just)\s+)?"
    r"(?:believe|help (?:but\b|\w+ing)|go wrong|lie\b"
    r"|wait\b|imagine|deny|argue|(?:dis)?agree|complain|blame|think of|see (?:why|how|any|an?)\b|stress|emphasi[sz]e"
    r"|overstate|overthink|be (?:sure|certain|anything|wrong|hard|difficult|too)\b|say (?:anything|a bad|a word)"
    r"|be said|remember|recall|find (?:any|a|an|fault)\b|explain why|guarantee|wrong\b))"
)
"""What makes "can't" no refusal: "I can't believe it", "can't go wrong with it"."""
_SORRY_ABOUT = (
    r"(?!,?\s+(?:for|about|to (?:hear|say|see)|that was|if (?:that|this)|(?:i|what i) meant|my (?:mistake|bad|error)))"
)
REFUSAL = lazy_pattern(
    r"\b(?:can't|cannot|can not|won't|will not|unable to|not able to|not going to|should not|shouldn't)\b"
    + _BUT_NONE
    + r"|\b(?:not comfortable|decline to|refuse to|not being able to|not (?:be )?appropriate|inappropriate"
    r"|don't feel comfortable|don't think (?:it's|it is|it would be) (?:\w+ )?"
    r"(?:appropriate|right|ethical|possible|fair"
    r"|responsible|proper|wise|okay|ok|helpful|good|acceptable|useful|necessary|my place|for me))\b"
    rf"|^\s*(?:i'm |i am |i'm very |i'm so )?sorry\b{_SORRY_ABOUT}"
    rf"|^\s*(?:i apologi[sz]e|my apologies|apologies)\b{_SORRY_ABOUT}",
    re.IGNORECASE,
)
ABROAD = (
    r"\b(?:lo siento|no puedo|prefiero no|je suis désolée?|désolée?,|je ne peux pas|je ne suis pas en mesure"
    r"|es tut mir leid|ich kann (?:das|diese|dir|ihnen|dabei|leider|hier)?\b.{0,40}\bnicht|mi dispiace|non posso"
    r"|desculpe|sinto muito|não posso|het spijt me|ik kan (?:dit|deze|hier|je|u)\b.{0,40}\bniet|przykro mi|nie mogę"
    r"|извините|не могу)|抱歉|对不起|對不起|无法|無法|不能|申し訳|できません|죄송|할 수 없"
)
EVASION = lazy_pattern(
    rf"{ABROAD}"
    r"|\b(?:(?:rather|prefer) not|neither option|no (?:opinion|preference)|as an? (?:ai|language model|assistant))\b",
    re.IGNORECASE,
)
"""Match refusals in other languages, and less plain ones: for answers in which nothing else is clear."""


_ABROAD = lazy_pattern(ABROAD, re.IGNORECASE)


def refuses_abroad(text: str) -> bool:
    """Return whether an answer refuses plainly in another language than English."""
    return bool(_ABROAD.search(text))


def is_refusal(text: str) -> bool:
    """Return whether an answer in which nothing else is clear refuses, plainly or not."""
    return bool(REFUSAL.search(text) or EVASION.search(text))


def refusing_words(text: str, longest: int = 80) -> str:
    """Return the words by which `is_refusal` recognises a refusal, and what follows them, in one line."""
    match = REFUSAL.search(text) or EVASION.search(text)
    return " ".join(text[match.start() : match.start() + longest].split()) if match else ""


def refusal_detail(text: str) -> str:
    """Return `Reading.detail` for a refusal: that it is one, and by which words."""
    return f"refused_in_words: {refusing_words(text)}"
