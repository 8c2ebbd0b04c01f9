"""Tell what kind of question a column of answers was asked by, so that the question reads all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from slant.collector.designs.proposed_study import FAILED, MISSING, toml_text
from slant.collector.errors import StudyError
from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.plain import AnswerReading, refuses
from slant.collector.reading.scales import Scale, read_scale
from slant.collector.reading.spelling import WRAPPING, folded
from slant.collector.reading.written_numbers import decimal_mark
from slant.collector.terminal import count_text

_SCALES = ((1, 5), (1, 7), (0, 10), (1, 10), (-3, 3), (-2, 2), (-5, 5), (1, 9), (1, 11), (0, 4), (0, 6))
_MOST_POINTS, _MOST_OPTIONS = 20, 20
_END = re.compile(r"(?:/|\bout of)\s*(\d{1,4})")
_OF_SCALE = re.compile(r"(?<=\d)\s*(?:/|out of|of)\s*\d+")
_UNITS = (("$", "dollars"), ("€", "euros"), ("£", "pounds"), ("%", "percent"))
_LONGEST_READ, _LONGEST_OPTION = 200, 60
_RARE = 0.02
"""Share of answers from which a value is one of a closed set, even if it is there once."""
_HEAD = re.compile(r"[,.;:!?–—\n]")


@dataclass(frozen=True)
class ProposedQuestion:
    """Hold the lines of a question in TOML, what was taken for it, and its kind ("profile" of a choice of one)."""

    lines: tuple[str, ...]
    said: str
    kind: str


def kind_of(values: Sequence[str]) -> str:
    """Return the kind of question that these answers fit; "text" where they are none of few values, and no numbers."""
    given = _given(values)
    return _kind(given, decimal_mark(given) or ".")[0]


def proposed_question(
    name: str, values: Sequence[str], *, mark: str | None = None, is_one: bool = True, is_choice: bool = False
) -> ProposedQuestion:
    """Propose a question. `mark` is before decimals, if that is known; `is_one`: nothing is shown side by side;
    `is_choice`: the values mark the profile that was chosen. StudyError if numbers could be read in two ways."""
    given = _given(values)
    text = f'text = "Answer{"" if is_one else " {profile}"}."'
    each = () if is_one else ("each_profile = true",)
    if is_choice:
        said = "the profile that was chosen (1) among the others (0)"
        return ProposedQuestion(('text = "Which one?"', 'kind = "choice"'), said, "profile")
    mark = mark or decimal_mark(given)
    kind, read = _kind(given, mark)
    if kind == "number":
        return _of_numbers(name, given, read, mark, (text,), each)
    if kind == "yes_no":
        said = f"yes or no{_unread(given, lambda value: read_choice(value, YES_NO))}"
        return ProposedQuestion((text, 'kind = "yes_no"', *each), said, kind)
    if kind == "choice":
        options = tuple(read)
        said = f"a choice among {', '.join(options)}{_unread(given, lambda value: read_choice(value, options))}"
        listed = f"options = [{', '.join(map(toml_text, options))}]"
        return ProposedQuestion((text, 'kind = "choice"', listed, *each), said, kind)
    return ProposedQuestion((text, 'kind = "text"', *each), "free text", "text")


def _given(values: Sequence[str]) -> Counter[str]:
    """Count the answers; missing ones and failed requests are none."""
    given = Counter(value.strip() for value in values)
    return Counter({v: n for v, n in given.items() if v.lower() not in MISSING and not FAILED.match(v)})


def _kind(given: Counter[str], mark: str | None) -> tuple[str, Mapping[str, float]]:
    """Return the kind, and the number that each answer is (of a choice its options, by how often they are given)."""
    n = given.total()
    numbers = {value: number for value in given if (number := _number(value, mark)) is not None}
    if n and sum(given[value] for value in numbers) * 2 > n:
        return "number", numbers
    options = _options(given)
    if not options or len(options) > _MOST_OPTIONS:
        return "text", {}
    if all(read_choice(option, YES_NO).value for option in options):
        return ("yes_no", {}) if _is_read(given, YES_NO) else ("text", {})
    is_closed = len(options) > 1 and len(options) * 2 <= n and _is_read(given, tuple(options))
    reads_itself = all(read_choice(option, tuple(options)).value == option for option in options)
    return ("choice", options) if is_closed and reads_itself else ("text", {})


def _is_read(given: Counter[str], options: Sequence[str]) -> bool:
    return sum(n for value, n in given.items() if read_choice(value, options).value) * 2 > given.total()


def _options(given: Counter[str]) -> dict[str, float]:
    """Return the values of a closed set as they are spelled most often: those that come back, or are 2 % of all. No
    majority decides what the others are; a refusal is no value."""
    spelled: dict[str, Counter[str]] = {}
    for value, n in given.items():
        bare = re.sub(r"^\W*(?:final )?answer\s*:\s*", "", value, flags=re.IGNORECASE).strip(WRAPPING)
        head = _HEAD.split(bare)[0].strip(WRAPPING)
        if len(bare) > _LONGEST_OPTION or folded(head) in YES_NO:
            bare = head
        if bare and len(bare) <= _LONGEST_OPTION and not refuses(folded(value)):
            spelled.setdefault(folded(bare), Counter())[bare] += n
    n = given.total()
    found = {counts.most_common(1)[0][0]: counts.total() for counts in spelled.values()}
    return {option: times for option, times in found.items() if times > 1 or times >= _RARE * n}


def _number(value: str, mark: str | None) -> float | None:
    if len(value) > _LONGEST_READ:
        return None
    plain = _OF_SCALE.sub("", value.replace("*", ""))
    read = read_number(plain, Amount(mark=mark))
    if read.value is None and mark is None and read_number(plain, Amount(mark=".")).value is not None:
        raise StudyError(
            f'its numbers may have decimals or thousands, as "{value[:20]}": say which by --decimal . or --decimal ,'
        )
    return None if read.value is None else float(read.value)


def _of_numbers(
    name: str,
    given: Counter[str],
    numbers: Mapping[str, float],
    mark: str | None,
    text: tuple[str, ...],
    each: tuple[str, ...],
) -> ProposedQuestion:
    low, high = min(numbers.values()), max(numbers.values())
    whole = all(number.is_integer() for number in numbers.values())
    if set(numbers.values()) == {0.0, 1.0}:
        said = "0 and 1, taken for a scale of two points (yes_no has the words yes and no)"
        unread = _unread(given, lambda value: read_scale(value, Scale(0, 1), name))
        return ProposedQuestion((*text, 'kind = "scale"', "min = 0", "max = 1", *each), said + unread, "scale")
    counted: Counter[str] = Counter()
    for value, n in given.items():
        counted.update(dict.fromkeys(_END.findall(value.replace("*", "")), n))
    ends = counted.most_common(1)
    most = int(ends[0][0]) if ends and ends[0][1] * 2 > given.total() else None
    scales = ((min(1, int(low)), most),) if most is not None and low < most <= _MOST_POINTS else _SCALES
    exactly = next((ends for ends in scales if ends == (low, high)), None)
    fitting = exactly or next(((a, b) for a, b in scales if a <= low and high <= b), None) if whole else None
    if fitting is not None and all(_same(read_scale(v, Scale(*fitting), name), numbers[v]) for v in numbers):
        a, b = fitting
        said = f"a scale from {a} to {b}, because the answers range from {int(low)} to {int(high)}"
        said += ": correct this if it is wrong"
        unread = _unread(given, lambda value: read_scale(value, Scale(a, b), name))
        return ProposedQuestion((*text, 'kind = "scale"', f"min = {a}", f"max = {b}", *each), said + unread, "scale")
    unit = next((unit for sign, unit in _UNITS if sum(given[v] for v in given if sign in v) * 2 > given.total()), "")
    amount = Amount(unit, low, float(most) if most is not None and most >= high else high, whole, mark)
    if low == high:
        amount = replace(amount, low=None)
    plain = replace(amount, mark=None)
    has_mark = any(not _same(read_number(value, plain, name), number) for value, number in numbers.items())
    lines = [*text, 'kind = "number"', *([f"min = {exact(low)}"] if low < high else [])]
    lines.append(f"max = {exact(amount.high or 0.0)}")
    lines += [f'unit = "{unit}"'] if unit else []
    lines += ["whole = true"] if whole else []
    lines += [f'decimal = "{mark}"'] if has_mark and mark else []
    said = f"a number, from {exact(low)} to {exact(high)} here"
    return ProposedQuestion((*lines, *each), said + _unread(given, lambda v: read_number(v, amount, name)), "number")


def exact(number: float) -> str:
    """Return a number as TOML has it, with all its digits: an end that was rounded would refuse the answer it is."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _same(reading: AnswerReading, number: float) -> bool:
    return reading.value is not None and float(reading.value) == number


def _unread(given: Counter[str], read: Callable[[str], AnswerReading]) -> str:
    """Return the remark on answers that such a question can't read."""
    left = {value: n for value, n in given.items() if read(value).value is None}
    if not left:
        return ""
    most = max(left, key=lambda value: left[value])
    return f'; {count_text(sum(left.values()), "answer")} can\'t be read so, as "{" ".join(most.split())[:40]}"'
