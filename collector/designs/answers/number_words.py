"""Read numbers that are written as words: English up to a hundred, other languages up to ten."""

from __future__ import annotations

import re

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ABROAD = (
    "_ ein|eins|eine zwei drei vier fünf sechs sieben acht neun zehn",
    "zéro un|une deux trois quatre cinq six sept huit neuf dix",
    "cero uno|un|una dos tres cuatro cinco seis siete ocho nueve diez",
    "zero uno|un|una due tre quattro cinque sei sette otto nove dieci",
    "zero uma dois|duas três quatro cinco seis sete oito nove dez",
    "nul één twee drie vier vijf zes zeven acht negen tien",
    "noll ett två tre fyra fem sex sju åtta nio tio",
    "ноль один два три четыре пять шесть семь восемь девять десять",
    "〇|零 一 二|两 三 四 五 六 七 八 九 十",
    "zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć",
    "sıfır bir iki üç dört beş altı yedi sekiz dokuz _",
    "nula jedna dva tři čtyři pět šest sedm osm devět deset",
    "nulla egy kettő három négy öt _ hét nyolc kilenc tíz",
    "nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen",
    "nul _ _ tre _ fem seks syv|sju otte|åtte ni ti",
    "nol satu dua tiga empat lima enam tujuh delapan sembilan sepuluh",
    "không một hai ba bốn năm sáu bảy tám chín mười",
    "صفر واحد اثنان|اثنين ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
    "शून्य एक दो तीन चार पाँच|पांच छह|छः सात आठ नौ दस",
    "영 일|하나 이|둘 삼|셋 사|넷 오|다섯 육|여섯 칠|일곱 팔|여덟 구|아홉 십|열",
)
"""German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Russian, Chinese and Japanese, Polish, Turkish, Czech,
Hungarian, Finnish, Danish and Norwegian, Indonesian, Vietnamese, Arabic, Hindi, Korean; from 0. _: an English word."""


def _read_table() -> dict[str, int]:
    numbers = {word: number for number, word in enumerate(_ONES.split())}
    for ten, word in enumerate(_TENS.split(), 2):
        numbers[word] = 10 * ten
        for one in range(1, 10):
            numbers |= {f"{word}{mark}{_ONES.split()[one]}": 10 * ten + one for mark in (" ", "-")}
    numbers |= dict.fromkeys(("hundred", "a hundred", "one hundred"), 100)
    for language in _ABROAD:
        for number, words in enumerate(language.split()):
            numbers |= {word: number for word in words.split("|") if word != "_" and word not in numbers}
    return numbers


NUMBER_WORDS = _read_table()
WORDS = "|".join(sorted(map(re.escape, NUMBER_WORDS), key=len, reverse=True))
_ENGLISH = "|".join(_ONES.split())
_OUT_OF = re.compile(rf"\b({_ENGLISH}|\d+),?\s+(out of)(?: an?| a possible| a total of)?\s+({_ENGLISH}|\d+)\b")


def with_digits(text: str) -> str:
    """Return a folded text with digits in "five out of seven"; elsewhere "one" may well be no number."""
    return _OUT_OF.sub(lambda match: f"{_digits(match[1])} {match[2]} {_digits(match[3])}", text)


def _digits(word: str) -> str:
    return str(NUMBER_WORDS.get(word, word))
