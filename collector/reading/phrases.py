"""Phrases by which sentences choose a label, describe or deny one, or refuse; folded (`spelling.py`), as patterns.

A clause in another language than English chooses if nothing precedes the label in it but one of these phrases and its
subject: the person who answers ("ich wähle"), or the word in question ("das Wort gehört zu").
"""

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


NOT_ABROAD = (
    r"\b(?:nicht|kein(?:e|er|es|en)?|weder|nunca|jamais|pas|niet|geen|inte|ikke|nie|não|nao|non|nem|ni|né|не|ни|нет"
    r"|plutôt que?|plutôt qu'|au lieu de|statt|anstatt|anstelle|en lugar de|en vez de|invece di|em vez de|in plaats van"
    r"|değil|bukan|tidak|không)\b|不(?:是|属|屬|能|会|會|选|選|该|該|应|應|想|可)|没有|ではな|じゃな|でもな|아니|않"
)
BUT_OR_SO = (
    r"sondern|aber|daher|deshalb|deswegen|darum|somit|folglich"
    r"|mais|donc|alors|par conséquent|sino|pero|entonces|así que|por (?:lo )?tanto|por eso"
    r"|por isso|mas|então|portanto|bensì|quindi|perciò|pertanto|maar|dus|daarom|utan|alltså"
    r"|lecz|więc|а|но|поэтому|значит|而是|所以|因此|だから"
)
_QUOTES = r"[\s\"'«»„“”(\[「『《:*]"
_OWN = r"(?:ich|je|yo|eu|io|ik|jag|jeg|ja|я|ben|saya|tôi|hier|dann|donc|also|entonces)"
_OWN_CHOICE = (
    r"wähle|nehme|sage|antworte(?: mit)?|tippe auf|entscheide mich für|würde|würde sagen|ordne|stelle"
    r"|choisis|choisirais|dirais|opte pour|opterais pour|prends|réponds|sélectionne|classe|classerais"
    r"|elijo|elegiría|elegiria|escojo|escogería|diría|digo|opto por|optaría por|selecciono|respondo|me quedo con"
    r"|escolho|escolheria|diria|optaria por|seleciono|scelgo|sceglierei|direi|dico|opto per|opterei per|seleziono"
    r"|kies(?: voor)?|zou|zeg|ga voor|väljer|skulle (?:välja|säga)|säger|velger|vælger"
    r"|wybieram|wybrał(?:a)?bym|powiedział(?:a)?bym"
    r"|выбираю|выберу|выбрала? бы|бы выбрала?|скажу|сказала? бы|бы сказала?"
    r"|seçiyorum|seçerdim|pilih|memilih|chọn|sẽ chọn"
)
_IS = (
    r"c'est|ce serait|es ist|das ist|das wäre|es|es una?|sería|é|seria|è|sarebbe|het is|dat is|det är|det er|to|to jest"
    r"|это|это слово|adalah|là|هو|هي|(?:คำตอบ(?:ที่ถูกต้อง)?)?คือ|זה"
    r"|(?:svaret|(?:poprawna )?odpowiedź|(?:správná )?odpověď|ответ|(?:câu trả lời|đáp án)|jawaban(?:nya)?)"
    r" (?:är|er|to|jest|je|это|là|adalah)"
)
_BELONGS = (
    r"gehört(?: eher)? (?:zu[rm]?|in|unter)|passt(?: eher| besser)? (?:zu[rm]?|in|unter)|fällt unter"
    r"|appartient (?:à|au|aux)|va (?:avec|dans|con|en)|correspond (?:à|au)|se classe dans|relève de"
    r"|pertenece a(?:l)?|corresponde a(?:l)?|encaja en|pertence (?:a|à|ao)|se encaixa em|appartiene a(?:l|lla)?"
    r"|rientra in|hoort bij|behoort tot|past bij|valt onder|tillhör|hör till|tilhører|hører til|należy do|pasuje do"
    r"|относится к|принадлежит к|подходит к|thuộc(?: về)?|termasuk(?: dalam)?"
)
_CALLED_SO = (
    r"(?:der|die|das|den|dem|de[rn]|la|le|el|il|lo|les|los|las|het|de|een|ein|eine|einer|une?|una|uno|um|uma|al|à|a|o"
    r"|kategorie|catégorie|categoría|categoria|categorie|kategori|kategorii|kategorię|категории|категория|категорию"
    r"|gruppe|grupp|groupe|grupo|gruppo|groep|grupy|группе|option|opción|opção|opzione|optie|opcję|вариант"
    r"|wort|mot|palabra|danh mục|nhóm)"
)
CHOSEN_ABROAD = lazy_pattern(
    rf"\W*(?:(?:{BUT_OR_SO})\b\W*)?"
    rf"(?:(?:{_OWN}\s+)?(?:{_OWN_CHOICE})(?:\s+(?:es|das|dieses?|le|la|lo|het|dit|det))?"
    rf"(?:\s+(?:wort|mot|palabra|woord|слово))?"
    rf"|(?:[^\s,;:.]+\s+){{0,5}}?(?:{_BELONGS})|(?:{_IS}))"
    rf"(?:{_QUOTES}|\b{_CALLED_SO}\b)*"
)
"""Match a whole clause before a label that it chooses."""
CHOSEN_IN_HAN = lazy_pattern(
    rf"(?:[^,;。]*?(?:选择|選擇|选|選|属于|屬於|归为|歸為|归类为|歸類為|归入|归到|分类为|分類為|划分为|划为|分到)(?:了|到)?"
    rf"|[^,;。]{{0,12}}(?:是|为|為)|[^,;。]{{0,20}}[はがを])?{_QUOTES}*"
)
"""Match a whole clause before a label in Chinese or Japanese."""
VERB_AFTER = lazy_pattern(
    r"[\s\"'»“”)\]]*(?:wählen|nehmen|sagen|antworten|zuordnen|einordnen|einladen|einstellen|auswählen|bevorzugen|empfehlen|uitnodigen|aannemen|zu(?=\W|$)|kiezen|zeggen|antwoorden|nemen|välja|säga)"
    r"(?=\W|$)"
)
"""Match the verb that German and Dutch put after the label ("ich würde Quick wählen", "ordne es Quick zu")."""
OWN_BEFORE = lazy_pattern(
    r"\W*(?:(?:ich|ik|jag)\s+(?:würde|zou|skulle|werde|zal|ordne|möchte|wil)|hier (?:würde ich|zou ik))\b"
    r"(?:\s+[^\s,;:.]+){0,5}[\s\"'«„“(]*"
)
NOT_AFTER = lazy_pattern(r"[\s\"'»“”)\]]*(?:nicht|pas|niet|inte|ikke|değil|ではな|じゃな|とは言え|이 아니|가 아니)")
CATEGORY_AFTER = r"类别|類別|类|類|组|這|这|選項|选项|カテゴリ|グループ|という|그룹|범주|카테고리|로 분류|으로 분류"
"""List words for "category" that scripts without blanks put right after a label."""


TAKEN_BACK = r"wait|actually|correction|scratch that|on second thought"
"""List the words by which an answer takes back what it said before."""
CORRECTS = lazy_pattern(rf"(?:^|[.!?\n])\s*(?:or|{TAKEN_BACK})\b")
TAKES_BACK = lazy_pattern(rf"\W*(?:i mean|{TAKEN_BACK})\b")
OR_ALSO = r"\W*(?:(?:and|or|but|nor|to)\b\W*(?:also\s+)?|/\s*)"
"""Match what stands between an alternative and another one that is meant as well."""
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
