"""Words by which sentences in other languages than English choose a label, or do not.

A clause chooses if nothing precedes the label in it but one of these phrases and its subject: the person who answers
("ich wähle"), or the word in question ("das Wort gehört zu"). All texts are folded (`spelling.py`).
"""

from __future__ import annotations

from slant.collector.system.patterns import lazy_pattern

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
