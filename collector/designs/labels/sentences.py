"""Find the labels that the sentences of an answer choose, from the context of each mention.

All texts are folded (`spelling.py`). A label is chosen by what precedes it in its clause ("I'd put it under …") or
follows it ("… is correct"), and by a clause that is the label alone; never where its clause negates it or refuses.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from slant.collector.designs.labels.spelling import WRAPPING, any_label, has_edges, label_of
from slant.collector.designs.refusals import REFUSAL
from slant.collector.system.patterns import lazy_pattern

Stand = Literal["chosen", "against", "neutral", "one_of_several"]

_NEAR = 200
"""Limit the characters around a label that decide whether it is chosen."""
_MAX_MENTIONS = 50
"""Limit the mentions of labels at the end of a sentence that are examined."""
LONGEST_QUOTE = 80
"""Limit the characters of an answer that are quoted as the words that decided."""

CORRECTS = lazy_pattern(r"(?:^|[.!?\n])\s*(?:or|wait|actually|correction|scratch that|on second thought)\b")
CALLED = (
    r"(?:answer|category|label|choice|option|classification|class|group|side|selection|pick|result|verdict|decision"
    r"|response|output|conclusion|respuesta|categor[ií]a|opci[oó]n|réponse|catégorie|antwort|kategorie|risposta|resposta"
    r"|ответ|категория|antwoord|categorie|odpowiedź|odpověď|cevap|svar|vastaus|válasz|răspuns|答案|类别|選項|选项|回答"
    r"|分类|答え|カテゴリ|정답|답변|답|카테고리|उत्तर|الإجابة|الجواب)"
)
_NOT_IN_PROSE = frozenset(
    {"a", "i", "no", "not", "none", "neither", "nor", "or", "and", "the", "it", "is", "he", "she"}
)
"""List labels that prose uses for itself, as it does single letters; they are read if they are alone, begin the answer,
or are named as a choice and end their clause ("I choose A.", "Option B is correct", "I would say no")."""
_NAMES_SHORT = lazy_pattern(
    rf"(?:\b{CALLED}\s*(?:(?:is|would be|must be|should be|will be)\b)?\s*:?"
    r"|\b(?:choos|chose|pick|select|say|prefer|go with|going with|vote|opt for)\w*(?: for)?"
    r"|\b(?:it is|it's|that is|that's|must be|would be|so|thus|therefore),?)"
    r"\s*(?:(?:the|option|answer|label|choice|letter)\s+)*[\"'(*\[]*$"
)
_ENDS_SHORT = lazy_pattern(
    r"[\"')*\]]*\s*(?:$|[.,;:!\n]|\b(?:because|since|as it|is (?:the )?(?:correct|right|best|better|answer|choice))\b)"
)

_CONTRAST = r"\b(?:but|however|though|although|nevertheless|nonetheless|yet|still|whereas|while)\b"
_CONTRAST_WORD = lazy_pattern(
    r"\b(?:but|however|nevertheless|nonetheless|yet|still|that said|if (?:i|we)|if forced|if pressed)\b"
)
_CAN_NOT = lazy_pattern(
    rf"(?!\s*(?:i'm |i am )?(?:very |so )?(?:sorry|i apolog|my apolog|apologies))(?:{REFUSAL.pattern})"
)
_CLAUSES = lazy_pattern(
    rf"[,;:()\[\]]\s*|\s[-–—]+\s|[–—]|(?={_CONTRAST})|(?=\b(?:so|thus|therefore|hence|because|since)\b)|\n+"
)
_SENTENCES = lazy_pattern(r"(?<=[.!?])[\"'*)\]]*\s+|\n+|[。！？]")
_NO_NEGATION = lazy_pattern(
    r"\b(?:no doubt|without (?:a |any )?doubt|no question|nothing but|not only|no other than|none other than)\b"
)
NEGATION = lazy_pattern(
    r"\b(?:not|never|no|neither|nor|cannot|without|hardly|barely|rather than|instead of|other than|as opposed to"
    r"|opposed to|unlike|against|except|avoid|reject|decline|refuse|unable|nicht|kein|nunca|jamais|pas)\b|n't\b"
)
_BEFORE_NEGATED = lazy_pattern(
    r"(?:\b(?:not|non|never|over|than|neither|nor|versus|vs\.?|wrong|incorrect|excludes?|rules? out)|n't"
    r"|\brather than|\binstead of|\bopposed to|\bno)\s*-?\s*(?:the\s+|a\s+|as\s+|in\s+|to\s+|under\s+|with\s+)*"
    r"[\"'(*]*$"
)
_ANYTHING_BUT = lazy_pattern(r"\b(?:anything|everything|anyone|all|any)(?: other)? but\s+(?:the\s+|a\s+)?[\"'(]*$")
_DEGREE = lazy_pattern(
    r"\b(?:slightly|somewhat|very|quite|rather|too|bit|little|fairly|more|less|most|least|extremely|really"
    r"|kind of|sort of|relatively|mostly|partly|almost|nearly|equally|both|either|as|how|pretty)"
    r"\s+[\"'*]*$"
)
_MAYBE_AS = lazy_pattern(
    r"\b(?:categor|class|sort|label|treat|mark|tag|read|count|describe|file|regard|identif|recogni|known|put|assign|think"
    r"|answer)\w*\b[^,]*\bas\s+[\"'*]*$"
)
_FOLLOWS = lazy_pattern(
    r"\s*(?:$|[^\w\s'\-]|\s-|(?:category|categories|group|label|option|class|side|word|words|type|list|column|because|since"
    r"|as|for|under|given|based|according|per|here|and|or|not|rather|instead|over|than|is|isn't|was|would|in|by|due|with"
    r"|it|i guess|i think|i suppose|i believe|of course|please|definitely|obviously|clearly|certainly|for sure|\d+\s*%"
    r"|which|this|that|then|but|so|fits?|wins|applies|seems|if|when|where|though|although|while|whereas|versus|vs)\b"
    r"|です|だ|である|を選|をえら|に分類|に属し|に決|입니다|이다|예요|이에요|$)"
)
_IS_CHOSEN = lazy_pattern(
    r"[\"'*)\]]*\s*(?:(?:is|would be|must be|seems|seems to be|should be)\s+(?:\w+\s+){0,3}?"
    r"(?:correct|right|answer|choice|best|label|category|option|pick|match|one|it)\b"
    r"|(?:it is|fits|wins|applies|matches|is where it belongs|is what the rule)\b"
    r"|[」』]?(?:を選|をえら|に分類|に属し|に決|입니다|이다|을 선택|를 선택))"
)
_IS_WRONG = lazy_pattern(
    r"[\"'*)\]]*\s*(?:(?:is|was|would be|seems|looks)\s+(?:\w+\s+){0,2}?(?:not|never|wrong|incorrect|false|out)\b"
    r"|(?:isn't|wasn't|wouldn't|can't|cannot|doesn't|does not|won't|would not)\b)"
)
_IS_DESCRIBED = lazy_pattern(
    r"[\"'*)\]]*\s*(?:is|are|was|stands|means|refers|goes|contains?|includes?|holds?|lists?)\b"
)
_IS_TICKED = lazy_pattern(r"[\"'*)\]]*\s*(?:[:=|]|→|->|=>)\s*[\"'*]*(?:true|yes|ja|oui|sí|✓|✔|✅|☑|\[x\])(?![\w'])")
_IS_CROSSED = lazy_pattern(
    r"[\"'*)\]]*\s*(?:[:=|]|→|->|=>)\s*[\"'*]*(?:false|no|none|null|nein|non|✗|✘|❌|☐|\[ ?\])(?![\w'])"
)
"""Match what follows a label for which an answer says whether it is the one: {"Quick": false, "Slow": true}."""
_IS_SHARE = lazy_pattern(r"[\"'*)\]]*\s*(?:[:=]\s*[\d.]+|\(?[\d.]+\s*%)")
"""Match what follows a label that is given a share, like the others: "Quick: 0.5, Slow: 0.5" chooses none."""
_ALTERNATIVES = lazy_pattern(
    r"[\"'*)\]]*\s*(?:or|and|nor|/|&|versus|vs\.?|,)\s*(?:the\s+|in\s+|to\s+|as\s+)*[\"'*(\[]*"
)
_FILLED = (
    r"(?:\s|[\"'*(\[$]|\b(?:the|a|an|as|in|into|to|under|with|of|clearly|definitely|simply|just|therefore|thus|probably"
    r"|likely|most likely|best|category|categories|label|option|group|word|type|class|side|called|named|list|column"
    r"|of course|indeed)\b)*"
)
_COPULA = lazy_pattern(
    rf"(?:\b(?:is|it's|that's|this's|'d be|would be|must be|should be|has to be|will be|can only be|are|was|remains"
    rf"|becomes|equals|ist|es|est|è|é)\b|'s\b|=|→|->|=>|是|为|為|は|은|는){_FILLED}$"
)
_VERB = (
    r"(?:choos\w*|chose\w*|pick\w*|select\w*|opt(?:ed|ing|s)?|say|says|said|assign\w*|categori[sz]\w*|classif\w*"
    r"|sort\w*|put|puts|place\w*|belong\w*|fit|fits|match\w*|label\w*|file|files|filed|give|gives|gave|mean|means"
    r"|link\w*|pair\w*|decid\w*|vote\w*|prefer\w*|conclud\w*|guess\w*|wähle"
    r"|elijo|choisis|scelgo|escolho|gehört|выбираю)"
)
_WEAK_VERB = (  # "go slow" chooses nothing, "go with Slow" does
    r"(?:go|goes|going|went|take|takes|answer\w*|fall\w*|map|maps|mapped|correspond\w*|lead\w*|point\w*|relat\w*"
    r"|associat\w*|count\w*|respond\w*|reply|lean\w*|settle\w*|stick\w*|i'd|i would)"
)
_CHOSEN_BY = lazy_pattern(
    rf"(?:(?P<verb>\b{_VERB}\b|选择|选|属于|選擇|選)(?:\s+[^\s,;:.]+){{0,8}}?\s*{_FILLED}"
    r"|\b(?:finds?|found|judge[sd]?|deem\w*|declare[sd]?)\s+(?:him|her|them|(?:the|this|that)\s+\w+)\s+(?:to be\s+)?"
    rf"|(?P<weak>\b{_WEAK_VERB}\b)(?:\s+[^\s,;:.]+){{0,8}}?\s+(?:with|to|under|in|into|for|as|on|towards?|is){_FILLED})$"
)
_DESCRIBES = lazy_pattern(
    r"(?<!am )(?<!i'm )(?<!we're )(?<!are )\b\w+ing$"
    r"|(?<!want )(?<!like )(?<!going )(?<!decide )(?<!decided )(?<!have )(?<!choose )\bto (?:\w+ly )?\w+$"
)
_OPENS_A_LIST = lazy_pattern(r"[\[\"]\s*$")
_GOES_ON = lazy_pattern(r"\s*,(?!\s*[\"'\])])")  # [Quick, …, but not "Quick," he says
_WHAT = lazy_pattern(r"\bwhat(?:ever)?\s*$")
_WORD_FOR = lazy_pattern(r"\b(?:word|term|name)s? (?:for|of|like) ")
_CONCEDES = lazy_pattern(r"\s*(?:while|although|whereas|even though|even if)\b")
_FIRST_PERSON = lazy_pattern(r"\b(?:i|we|i'd|i'll|i'm|my|let's)\b")
_NOTHING_ELSE = lazy_pattern(
    r"(?:\s|[\"'*(\[]|\b(?:so|thus|therefore|hence|then|and|but|yet|still|if|forced|pressed|pushed|needed|necessary"
    r"|i|we|had|to|definitely|clearly|certainly|probably|maybe|perhaps|likely|ok|okay|sure|yes|well|hmm|in|that|case"
    r"|my|the|a|guess|think|would|i'd|by|under|this|given|rule|rules|according|based|on|finally|overall|answer|just|simply"
    r"|of|course|no|doubt|question|without|nothing|it|however|choose|one|here|final|choice|category|label|option"
    r"|un|une|le|la|les|el|los|las|una|unos|unas|der|die|das|den|ein|eine|einen|il|lo|gli|um|uma)\b|\b(?:l|d|un)')*$"
)
_CONCLUDES = lazy_pattern(
    rf"\b(?:so|thus|therefore|hence|finally|conclusion|i'd|i would|i|we|final|{CALLED[3:-1]}|must|overall|in short)\b"
)
_OWN = lazy_pattern(r"\b(?:i|we|i'm|i've|i'd|we're|me|us|sorry|it's|it is|ai|as an?)\b")
_ASKED_FOR = lazy_pattern(
    r"\b(?:comply|help|assist|answer|complete|fulfil|do (?:that|this|so)|be (?:answered|categorized|completed|done)"
    r"|engage|participate|provide|respond|proceed|continue)\b"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Hold a label in a sentence, its role there, the words around it, and whether these draw a conclusion."""

    label: str
    stand: Stand
    words: str
    is_conclusion: bool


def mentions_in(text: str, by_bare: Mapping[str, str], item: str, *, plural: bool) -> list[Mention]:
    """Return every mention of a label in a text, in order. `by_bare`: the labels by their folded spellings."""
    mentions: list[Mention] = []
    is_refused = False  # a refusal came, and no "but" since
    for sentence in filter(None, map(str.strip, _SENTENCES.split(text))):
        mentions += _in_sentence(sentence, by_bare, item, plural=plural, is_refused=is_refused)
        is_refused = _is_refused(sentence, len(sentence), is_refused=is_refused)
    return mentions


def _is_refused(sentence: str, end: int, *, is_refused: bool) -> bool:
    """Return whether a refusal applies at a position of a sentence, in which or before which it came."""
    start = max(0, end - 1_000)
    refusals = [match.end() for match in _CAN_NOT.finditer(sentence, start, end) if _is_own(sentence, match)]
    if not refusals and not is_refused:
        return False
    return not _CONTRAST_WORD.search(sentence, refusals[-1] if refusals else start, end)


def leading_label(text: str, by_bare: Mapping[str, str]) -> Mention | None:
    """Return the label that a text begins with, if it is set off from what follows ("Quick. A tractor …")."""
    start = text.lstrip(WRAPPING)
    match = any_label(tuple(by_bare), False).match(start)
    if match is None:
        return None
    after = start[match.end() :]
    is_set_off = re.match(
        r"[\"'*)\]}]*\s*(?:[.!;:(\n]|,\s*(?!(?:and|or)\b)|[–—]|\s-\s"
        r"|\s\(?[\d.]+\s*%"
        r"|\s(?:because|since|as it|as the|given|rather than|instead of|not)\b|\s*/\s*not\b)",
        after,
    )
    is_lettered = len(match[0]) == 1 and after.startswith(")")  # "B) Slow"
    if (
        not (is_set_off or is_lettered)
        or _IS_TICKED.match(after)
        or _IS_CROSSED.match(after)
        or CORRECTS.search(after)
        or _IS_WRONG.match(after)
        or (_IS_SHARE.match(after) and any_label(tuple(by_bare), False).search(after))
        or any_label(tuple(by_bare), False).match(after.lstrip(WRAPPING))
    ):
        return None
    words = " ".join(start[: match.end() + 40].split())
    return Mention(label_of(match, by_bare), "chosen", words[:LONGEST_QUOTE], False)


def _in_sentence(
    sentence: str, by_bare: Mapping[str, str], item: str, *, plural: bool, is_refused: bool
) -> Iterator[Mention]:
    matches = list(any_label(tuple(by_bare), plural).finditer(sentence)) if by_bare else []
    matches = [match for match in matches[-_MAX_MENTIONS:] if _is_named(sentence, match)]
    if not matches:
        return
    if sentence.rstrip("\"')*]").endswith("?"):
        stands: list[Stand] = ["neutral"] * len(matches)
    else:
        starts = [0, *(match.end() for match in _CLAUSES.finditer(sentence))]
        stands = [_stand(sentence, match, matches[:place], starts, item) for place, match in enumerate(matches)]
        for place, (one, other) in enumerate(pairwise(matches)):
            is_another = stands[place] != "against" and label_of(one, by_bare) != label_of(other, by_bare)
            if is_another and _ALTERNATIVES.fullmatch(sentence, one.end(), other.start()):
                stands[place] = stands[place + 1] = "one_of_several"
    if len({label_of(match, by_bare) for match in matches if _IS_SHARE.match(sentence, match.end())}) > 1:
        stands = ["one_of_several"] * len(matches)
    for match, stand in zip(matches, stands, strict=True):
        if stand == "chosen" and _is_refused(sentence, match.start(), is_refused=is_refused):
            stand = "against"
        words = " ".join(sentence[max(0, match.start() - 50) : match.end() + 10].split())[-LONGEST_QUOTE:]
        concludes = bool(_CONCLUDES.search(sentence, max(0, match.start() - _NEAR), match.start()))
        yield Mention(label_of(match, by_bare), stand, words, concludes)


def _is_named(sentence: str, match: re.Match[str]) -> bool:
    """Return False for "a", "no" and single letters if they are not labels but words of the sentence."""
    bare = match[0]
    if bare not in _NOT_IN_PROSE and (len(bare) > 1 or not has_edges(bare)):
        return True
    if sentence.strip(WRAPPING) == bare:
        return True
    before = sentence[max(0, match.start() - _NEAR) : match.start()]
    if not before.strip(WRAPPING) and _IS_CHOSEN.match(sentence, match.end()):
        return True
    return bool(_ENDS_SHORT.match(sentence, match.end()) and _NAMES_SHORT.search(before))


def _stand(
    sentence: str, match: re.Match[str], earlier_matches: list[re.Match[str]], starts: list[int], item: str
) -> Stand:
    """Return whether a label is chosen by what precedes it in its clause, and follows it."""
    start = starts[bisect_right(starts, match.start()) - 1]
    previous = earlier_matches[-1].end() if earlier_matches else 0
    clause = _NO_NEGATION.sub(" ", sentence[max(start, match.start() - _NEAR) : match.start()])
    before = _NO_NEGATION.sub(" ", sentence[max(start, previous, match.start() - _NEAR) : match.start()])
    earlier = sentence[max(0, start - _NEAR) : start]
    after = sentence[match.end() : match.end() + _NEAR]
    if _IS_WRONG.match(after) or _BEFORE_NEGATED.search(clause) or NEGATION.search(clause) or REFUSAL.search(clause):
        return "against"
    if _ANYTHING_BUT.search(earlier + clause) or _IS_CROSSED.match(after):
        return "against"
    if _IS_TICKED.match(after):
        return "chosen"
    if _OPENS_A_LIST.search(sentence[: match.start()][-3:]) and _GOES_ON.match(after):
        return "neutral"
    if _DEGREE.search(clause) and not _MAYBE_AS.search(clause):
        return "neutral"
    if _IS_CHOSEN.match(after):
        return "chosen"
    if not _FOLLOWS.match(after) or _IS_DESCRIBED.match(after):
        return "neutral"
    by_verb = _CHOSEN_BY.search(before)
    if by_verb and (
        _CONCEDES.match(clause)
        or _DESCRIBES.search(before, 0, max(by_verb.end("verb"), by_verb.end("weak")))
        or not _is_chosen_for(before, by_verb, item)
    ):
        by_verb = None  # "the instruction to call it Slow" chooses nothing
    if by_verb or _NOTHING_ELSE.fullmatch(before):
        # "such as Quick", "the labels are: Quick" name it; a clause that is only the label concludes what came before
        return "chosen" if before.strip() or earlier.strip() or not after.strip(WRAPPING) else "neutral"
    copula = _COPULA.search(before)
    if copula and _WHAT.search(before[: copula.start()]):
        return "neutral"  # "a word for what is lively"
    return "chosen" if copula and _is_about_the_item(before[: copula.end()], item) else "neutral"


def _is_chosen_for(before: str, by_verb: re.Match[str], item: str) -> bool:
    """Return True if another person's verb ("names should be put under …") is about the word in question."""
    is_own = _FIRST_PERSON.search(before) or not before[: by_verb.start()].strip(WRAPPING)
    return bool(is_own) or _is_about_the_item(before, item)


_ITS_NAMES = lazy_pattern(
    rf"\b(?:it|this|that|word|term|name|item|one|rule|these|they|{CALLED[3:-1]})\b|^[\s\"'*(]*$"
    r"|答案|类别|選項|选项|回答|分类|答え|カテゴリ|정답|답변|카테고리"
)


def _is_about_the_item(subject: str, item: str) -> bool:
    """Return True if a sentence "… is Quick" is about the word, or about the answer: then it chooses."""
    stem = item[: max(3, len(item) - 2)]
    if item and stem not in subject and _WORD_FOR.search(subject):
        return False  # "the word for light is Lively"
    return not item or bool(_ITS_NAMES.search(subject)) or stem in subject


def own_refusal(text: str) -> str:
    """Return the words by which an answer that names a label still refuses; none if something else
    "can't".
    """
    for match in REFUSAL.finditer(text):
        if _is_own(text, match):
            return " ".join(text[_clause_start(text, match) : match.end() + 40].split())[:LONGEST_QUOTE]
    return ""


def _is_own(text: str, match: re.Match[str]) -> bool:
    """Return True for a refusal by the answerer ("I can't", "can't comply"), not for a word that "can't be"
    something."""
    before, after = text[_clause_start(text, match) : match.start()], text[match.end() : match.end() + 60]
    return not before.strip(WRAPPING) or bool(_OWN.search(before) or _OWN.search(match[0]) or _ASKED_FOR.search(after))


def _clause_start(text: str, match: re.Match[str]) -> int:
    return max(text.rfind(sign, max(0, match.start() - _NEAR), match.start()) for sign in ".!?\n;,") + 1
