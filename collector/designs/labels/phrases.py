"""Phrases by which English sentences choose a label, describe or deny one; folded (`spelling.py`), as patterns."""

from __future__ import annotations

from slant.collector.designs.labels.languages import BUT_OR_SO, CATEGORY_AFTER, NOT_ABROAD
from slant.collector.designs.refusals import REFUSAL
from slant.collector.system.patterns import lazy_pattern

CORRECTS = lazy_pattern(r"(?:^|[.!?\n])\s*(?:or|wait|actually|correction|scratch that|on second thought)\b")
CALLED = (
    r"(?:answer|category|label|choice|option|classification|class|group|side|selection|pick|result|verdict|decision"
    r"|response|output|conclusion|respuesta|categor[ií]a|opci[oó]n|réponse|catégorie|antwort|kategorie|risposta|resposta"
    r"|ответ|категория|antwoord|categorie|odpowiedź|odpověď|cevap|svar|vastaus|válasz|răspuns|答案|类别|選項|选项|回答"
    r"|分类|答え|カテゴリ|정답|답변|답|카테고리|उत्तर|الإجابة|الجواب|відповідь|απάντηση|תשובה|پاسخ|คำตอบ|jawaban|yanıt"
    r"|câu trả lời|đáp án)"
)
NOT_IN_PROSE = frozenset({"a", "i", "no", "not", "none", "neither", "nor", "or", "and", "the", "it", "is", "he", "she"})
"""List labels that prose uses for itself, as it does single letters; they are read if they are alone, begin the answer,
or are named as a choice and end their clause ("I choose A.", "Option B is correct", "I would say no")."""
NAMES_SHORT = lazy_pattern(
    rf"(?:\b{CALLED}\s*(?:(?:is|would be|must be|should be|will be)\b)?\s*:?"
    r"|\b(?:choos|chose|pick|select|say|prefer|go with|going with|vote|opt for)\w*(?: for)?"
    r"|\b(?:it is|it's|that is|that's|must be|would be|so|thus|therefore),?)"
    r"\s*(?:(?:the|option|answer|label|choice|letter)\s+)*[\"'(*\[]*$"
)
ENDS_SHORT = lazy_pattern(
    r"[\"')*\]]*\s*(?:$|[.,;:!\n]|\b(?:because|since|as it|is (?:the )?(?:correct|right|best|better|answer|choice))\b)"
)

CONTRAST = r"\b(?:but|however|though|although|nevertheless|nonetheless|yet|still|whereas|while)\b"
CONTRAST_WORD = lazy_pattern(
    r"\b(?:but|however|nevertheless|nonetheless|yet|still|that said|if (?:i|we)|if forced|if pressed)\b"
)
CAN_NOT = lazy_pattern(
    rf"(?!\s*(?:i'm |i am )?(?:very |so )?(?:sorry|i apolog|my apolog|apologies))(?:{REFUSAL.pattern})"
)
CLAUSES = lazy_pattern(
    rf"[,;:()\[\]]\s*|\s[-–—]+\s|[–—]|(?={CONTRAST})|(?=\b(?:so|thus|therefore|hence|because|since)\b)|\n+"
)
SENTENCES = lazy_pattern(r"(?<=[.!?])[\"'*)\]]*\s+|\n+|[。！？]")
NO_NEGATION = lazy_pattern(
    r"\b(?:no doubt|without (?:a |any )?doubt|no question|nothing but|not only|no other than|none other than"
    r"|(?:can't|cannot|can not) (?:go wrong with|help but|be anything but|be other than|but))\b"
)
NEGATION = lazy_pattern(
    r"\b(?:not|never|no|neither|nor|cannot|without|hardly|barely|rather than|instead of|other than|as opposed to"
    r"|opposed to|unlike|against|except|avoid|reject|decline|refuse|unable)\b"
    rf"|n't\b|{NOT_ABROAD}"
)
BEFORE_NEGATED = lazy_pattern(
    r"(?:\b(?:not|non|never|over|than|neither|nor|versus|vs\.?|wrong|incorrect|excludes?|rules? out)|n't"
    r"|\brather than|\binstead of|\bopposed to|\bno)\s*-?\s*(?:the\s+|a\s+|as\s+|in\s+|to\s+|under\s+|with\s+)*"
    r"[\"'(*]*$"
)
ANYTHING_BUT = lazy_pattern(r"\b(?:anything|everything|anyone|all|any)(?: other)? but\s+(?:the\s+|a\s+)?[\"'(]*$")
DEGREE = lazy_pattern(
    r"\b(?:slightly|somewhat|very|quite|rather|too|bit|little|fairly|more|less|most|least|extremely|really"
    r"|kind of|sort of|relatively|mostly|partly|almost|nearly|equally|both|either|as|how|pretty)"
    r"\s+[\"'*]*$"
)
MAYBE_AS = lazy_pattern(
    r"\b(?:categor|class|sort|label|treat|mark|tag|read|count|describe|file|regard|identif|recogni|known|put|assign|think"
    r"|answer)\w*\b[^,]*\bas\s+[\"'*]*$"
)
FOLLOWS = lazy_pattern(
    r"\s*(?:$|[^\w\s'\-]|\s-|(?:category|categories|group|label|option|class|side|word|words|type|list|column|because|since"
    r"|as|for|under|given|based|according|per|here|and|or|not|rather|instead|over|than|is|isn't|was|would|in|by|due|with|beyond"
    r"|plutôt|statt|anstatt|anstelle|en lugar|en vez|invece|in plaats|em vez"
    r"|it|i guess|i think|i suppose|i believe|of course|please|definitely|obviously|clearly|certainly|for sure|\d+\s*%"
    r"|which|this|that|then|but|so|fits?|wins|applies|seems|if|when|where|though|although|while|whereas|versus|vs)\b"
    rf"|{CATEGORY_AFTER}"
    r"|です|だ|である|を選|をえら|に分類|に属し|に決|입니다|이다|예요|이에요|$)"
)
LESSER = (
    r"(?:second|third|last|worst|least|wrong|bad|poor|weaker|weakest|other|alternative|backup|fallback|opposite|incorrect"
    r"|not|never|hardly|no)"
)
OF_ANOTHER = lazy_pattern(
    r"(?<!is )(?<!at )\b(?:wrong|incorrect|opposite|other|rejected|excluded|eliminated|discarded|dismissed|ruled out"
    r"|runner[- ]?up|(?:second|third|last)(?=\W*[:=→–—-]|\W*$|\s+(?:best|choice|pick|preference|guess|favou?rite)\b)"
    r"|alternative(?:ly)?|least|worst|loser|backup|fallback"
    r"|abgelehnt|rejetée?|rechazad[oa]|scartat[oa])\b"
)
"""Match what introduces a label that is not the answer: "Rejected: Slow"."""
ANOTHER_IS = lazy_pattern(
    rf"{OF_ANOTHER.pattern}(?:\s+\w+)?[^\w.!?:\n]{{0,4}}:\s*$"
    r"|\b(?:(?:second|third|last)\s+(?:best\s+|favou?rite\s+)?(?:choice|pick|preference|guess)"
    rf"|(?:least|worst|wrong|incorrect|backup|fallback|alternative|other)\s+(?:best\s+|favou?rite\s+)?{CALLED})"
    r"\b[^.!?\n]{0,20}$"
)
"""Match the same before a label in a sentence: "my last choice is"."""
IS_CHOSEN = lazy_pattern(
    r"[\"'*)\]]*\s*(?:(?:is|would be|must be|seems|seems to be|should be)\s+"
    rf"(?:(?!{LESSER}\b)\w+\s+){{0,3}}?(?:(?:correct|right|best|better|preferable)\b"
    r"|(?:answer|choice|label|category|option|pick|match|one|it)\b"
    r"(?! of (?:the|two|these|those|several)\b|[\"']* of [\"'\[(]))"
    r"|(?:it (?:is|shall be|will be|must be|has to be)|fits|wins|applies|matches|is where it belongs"
    r"|is what the rule)\b"
    r"|[」』]?(?:を選|をえら|に分類|に属し|に決|입니다|이다|을 선택|를 선택))"
)
IS_WRONG = lazy_pattern(
    r"[\"'*)\]]*\s*(?:(?:is|was|would be|seems|looks)\s+(?:\w+\s+){0,2}?(?:not|never|wrong|incorrect|false|out)\b"
    r"|(?:isn't|wasn't|wouldn't|can't|cannot|doesn't|does not|won't|would not)\b)"
    r"|[\"'*)\]]*\s*,\s*(?:no\s*(?:[.!\n]|$)|does(?:n't| not) (?:fit|apply|match|work)\b)"
)
IS_DESCRIBED = lazy_pattern(r"[\"'*)\]]*\s*(?:is|are|was|stands|means|refers|goes|contains?|includes?|holds?|lists?)\b")
IS_TICKED = lazy_pattern(r"[\"'*)\]]*\s*(?:[:=|]|→|->|=>)\s*[\"'*]*(?:true|yes|ja|oui|sí|✓|✔|✅|☑|\[x\])(?![\w'])")
IS_CROSSED = lazy_pattern(
    r"[\"'*)\]]*\s*(?:[:=|]|→|->|=>)\s*[\"'*]*(?:false|no|none|null|nein|non|✗|✘|❌|☐|\[ ?\])(?![\w'])"
)
"""Match what follows a label for which an answer says whether it is the one: {"Quick": false, "Slow": true}."""
IS_SHARE = lazy_pattern(r"[\"'*)\]]*\s*(?:[:=]\s*[\d.]+|\(?[\d.]+\s*%)")
"""Match what follows a label that is given a share, like the others: "Quick: 0.5, Slow: 0.5" chooses none."""
ALTERNATIVES = lazy_pattern(r"[\"'*)\]]*\s*(?:or|and|nor|/|&|versus|vs\.?|,)\s*(?:the\s+|in\s+|to\s+|as\s+)*[\"'*(\[]*")
FILLED = (
    r"(?:\s|[\"'*(\[$]|\b(?:the|a|an|as|in|into|to|under|with|of|clearly|definitely|simply|just|therefore|thus|probably"
    r"|likely|most likely|best|category|categories|label|option|group|word|type|class|side|called|named|list|column"
    r"|of course|indeed)\b)*"
)
COPULA = lazy_pattern(
    rf"(?:\b(?:is|it's|that's|this's|(?:'d|'ll|would|must|should|will|has to|can only)"
    r"(?: \w+ly| indeed| thus| then| also)? be|are|was"
    rf"|remains|becomes|equals|ist|es|est|è|é)\b|'s\b|=|→|->|=>|是|为|為|は|은|는){FILLED}$"
)
VERB = (
    r"(?:choos\w*|chose\w*|pick\w*|select\w*|opt(?:ed|ing|s)?|say|says|said|assign\w*|categori[sz]\w*|classif\w*"
    r"|sort\w*|put|puts|place\w*|belong\w*|fit|fits|match\w*|label\w*|file|files|filed|give|gives|gave|mean|means"
    r"|link\w*|pair\w*|get|gets|receive[sd]?|decid\w*|vote\w*|prefer\w*|conclud\w*|guess\w*|hire\w*|invit\w*|interview\w*|recommend\w*"
    r"|shortlist\w*|appoint\w*|nominat\w*|favou?r\w*"
    r"|(?:i'd|i would|i'll|i will|we'd|let's)\s+(?:\w+ly\s+)?(?:call|save)"
    r"|(?:i'd|i would|i'm|i|we'd)\s+(?:\w+ly\s+)?lean(?:ing)?(?!\s+away)"
    r"|wähle|elijo|choisis|scelgo|escolho|gehört|выбираю)"
)
WEAK_VERB = (  # "go slow" chooses nothing, "go with Slow" does
    r"(?:go|goes|going|went|take|takes|answer\w*|fall\w*|map|maps|mapped|correspond\w*|lead\w*|point\w*|relat\w*"
    r"|associat\w*|count\w*|respond\w*|reply|lean\w*|settle\w*|stick\w*|i'd|i would)"
)
CHOSEN_BY = lazy_pattern(
    rf"(?:(?P<verb>\b{VERB}\b|选择|选|属于|選擇|選)(?:\s+[^\s,;:.]+){{0,8}}?\s*{FILLED}"
    r"|\b(?:finds?|found|judge[sd]?|deem\w*|declare[sd]?)\s+(?:him|her|them|(?:the|this|that)\s+\w+)\s+(?:to be\s+)?"
    rf"|(?P<weak>\b{WEAK_VERB}\b)(?:\s+[^\s,;:.]+){{0,8}}?\s+(?:with|to|under|in|into|for|as|on|towards?|is){FILLED})$"
)
DESCRIBES = lazy_pattern(
    r"(?<!am )(?<!i'm )(?<!we're )(?<!are )\b\w+ing$"
    r"|(?<!want )(?<!like )(?<!going )(?<!decide )(?<!decided )(?<!have )(?<!choose )\bto (?:\w+ly )?\w+$"
)
WHAT_IS = lazy_pattern(r"\bwhat(?:ever)?\s+(?:is|are|was|seems|feels)\s+[\"']*$")
RESTATES_TASK = lazy_pattern(
    r"\b(?:need|needs|have|has|must|should|asked|going|trying|want|let's|let us|order|task is)\b(?:\s+\w+)?\s+"
    r"(?:to\s+)?(?:identify|determine|find|figure out|look for|decide|know|see)\b"
    r"(?!.*\b(?:i'd|i|and|so|but)\s+(?:would\s+)?(?:choose|pick|select|say|go)\b)"
)
EITHER = lazy_pattern(r"\beither\s+(?:the\s+|in\s+|under\s+|with\s+|to\s+)*[\"'(*\[]*$")
NAMES_PART = lazy_pattern(rf"(?:word|item|name|term|reason|rule|{CALLED[3:-1]})")  # of "word: tractor, label: Quick"
LIST_MARKS = lazy_pattern(r"\s*[,:;|/]\s*|\s+[-–—]\s+")
OPENS_A_LIST = lazy_pattern(r".?[\[\"]")
GROUPS = lazy_pattern(r"\[[^\[\]{}\n]{1,200}\]|\"[^\"\n]{1,200}\"")
_BY = r"(?P<by>with|under|to|into|in)\s+(?:the\s+)?[\"'(*\[]*"
OF_RULE = lazy_pattern(rf"\b{_BY}$")
SECOND_OF_RULE = lazy_pattern(rf"[\"')*\]]*(?:\s*[,;])?\s*(?:\b(?:and|while|whereas)\s+)?(?:[^\s,;:.]+\s+){{1,5}}{_BY}")
ITEM_BY_PRONOUN = lazy_pattern(r"\b(?:it|this (?:word|name|one|item)|the (?:word|name|item))\b")
PUTS_ANOTHER = lazy_pattern(
    r"\b(?:put|puts|place|sort|pair|match|file|assign)\s+(?!with\b|under\b|to\b|into\b|in\b|as\b|for\b|option\b|label\b"
    r"|category\b|group\b)[^\s,;:.]+(?:\s+[^\s,;:.]+){0,3}\s+(?:with|under|to|into|in)\s+(?:the\s+)?[\"'(*\[]*$"
)
WORD_FOR = lazy_pattern(r"\b(?:word|term|name)s? (?:for|of|like) ")
CONCEDES = lazy_pattern(r"\s*(?:while|although|whereas|even though|even if)\b")
GOES_ON_WITH = lazy_pattern(r"\s*(?:still|yet|so|therefore|thus)\b")
ARROW_ONLY = lazy_pattern(r"[\"'*)\]]*\s*(?:→|->|=>)\s*[\"'*(\[]*")
FIRST_PERSON = lazy_pattern(r"\b(?:i|we|i'd|i'll|i'm|my|let's)\b")
NOTHING_ELSE = lazy_pattern(
    r"(?:\s|[\"'*(\[「『《]|\b(?:so|thus|therefore|hence|then|and|but|yet|still|if|forced|pressed|pushed|needed|necessary|please|obviously"
    r"|i|we|had|to|definitely|clearly|certainly|probably|maybe|perhaps|likely|ok|okay|sure|yes|well|hmm|in|that|case"
    r"|my|the|a|guess|think|would|i'd|by|under|this|given|rule|rules|according|based|on|finally|overall|answer|just|simply"
    r"|of|course|no|doubt|question|without|nothing|it|however|choose|one|here|final|choice|category|label|option"
    rf"|{BUT_OR_SO}"
    r"|un|une|le|la|les|el|los|las|una|unos|unas|der|die|das|den|ein|eine|einen|il|lo|gli|um|uma)\b|\b(?:l|d|un)')*$"
)
CONCLUDES = lazy_pattern(
    rf"\b(?:so|thus|therefore|hence|finally|conclusion|i'd|i would|i|we|final|{CALLED[3:-1]}|must|overall|in short)\b"
)
CONCLUDES_LEFT = lazy_pattern(rf"{CONCLUDES.pattern}|\b(?:rules?|instructions?|it's|it is)\b")
ONLY_MAY_BE = lazy_pattern(r"\b(?:could|might|may|can|other|another|alternative)\b")
REASON_FIRST = lazy_pattern(r"\W*(?:since|as|because|given that)\b")
SO_ONLY = lazy_pattern(
    r"\s*(?:so|thus|therefore|hence|then)\b[,:]?\s*"
    r"(?:(?:my|the|answer|choice|is|it's|it is|i'd say|i say)\b\s*)*[\"'(:*]*"
)
OWN = lazy_pattern(r"\b(?:i|we|i'm|i've|i'd|we're|me|us|sorry|it's|it is|ai|as an?|it would be)\b")
ASKED_FOR = lazy_pattern(
    r"\b(?:comply|help|assist|answer|complete|fulfil|do (?:that|this|so)|engage|participate|provide|respond"
    r"|proceed|continue"
    r"|be (?:answered|categori[sz]ed|classified|sorted|assigned|chosen|rated|fulfilled|completed|done|given)"
    r"|(?:categori[sz]e|classify|sort|assign|choose|pick|rate|rank|judge|label)"
    r" (?:this|that|these|people|persons|groups|words))\b"
)
ITS_NAMES = lazy_pattern(
    rf"\b(?:it|this|that|word|term|name|item|one|rule|these|they|{CALLED[3:-1]})\b|^[\s\"'*(→=>-]*$"
    r"|答案|类别|選項|选项|回答|分类|答え|カテゴリ|정답|답변|카테고리"
)
