"""Recognise columns of answers (by known names, else by their values), and tasks of profiles side by side with what may
not be shown in one of them.

Tell what kind of question a column of answers was asked by, so that the question reads all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from slant.collector.designs.people import TRUE
from slant.collector.designs.proposed_study import FAILED, MISSING, PERSONS, AnswerTable, number_of, toml_text
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
_NO_ANSWER = re.compile(r"-99+(?:\.0)?")
"""Match how surveys mark what was seen and not answered."""


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
        answered = {value: number for value, number in read.items() if not _NO_ANSWER.fullmatch(value)}
        read = answered if min(answered.values(), default=-1) >= 0 else read
        return _of_numbers(name, given, read, mark, (text,), each)
    if kind == "yes_no":
        said = f"yes or no{_unread(given, lambda value: read_choice(value, YES_NO))}"
        return ProposedQuestion((text, 'kind = "yes_no"', *each), said, kind)
    if kind == "choice":
        options = tuple(read)
        ordered = ". Are they ordered? Then make it a scale: labels = { 1 = … }" if len(options) > 2 else ""
        unread = _unread(given, lambda value: read_choice(value, options))
        said = f"a choice among {', '.join(options)}{unread}{ordered}"
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


_TASKS = (
    "task task_id task_no task_number choice_task choice_set contest contest_no contest_id pair pair_id pair_no set "
    "set_id round trial"
)
_PLACES = (
    "place position profile profile_no profile_id profile_number alternative alt option option_no concept candidate "
    "side"
)
_MOST_WHOLE = 0.9
"""Share of tasks that must be whole: of a file that was cut, one is not."""
_MOST_PROFILES = 10
_EXPECTED_ONCE = 12.0
"""How often a pair of levels is expected in the data, if it may be forbidden because it is never there."""
_MOST_FORBIDDEN = 40
_CHOSEN = re.compile(r"cho[sio]|select|pick|vote|prefer|win|decision|answer|response|accept|admit|support")


@dataclass(frozen=True)
class Tasks:
    """Hold the columns of a task and of a profile's place in it ("" if rows are in order), how many profiles a task
    has (1: there are no tasks), and the columns that mark the one that was chosen."""

    task: str = ""
    place: str = ""
    n_profiles: int = 1
    chosen: tuple[str, ...] = ()

    def mapping(self, table: AnswerTable) -> list[str]:
        """Return the `--map` of these columns; places may be counted from 0."""
        made = [f"task={self.task}"] if self.task != "task" else []
        place = table.from_one(self.place) if self.place else "place"
        return [*made, *([f"place={place}"] if place != "place" else [])]


def tasks_of(table: AnswerTable) -> Tasks:
    """Return the tasks of people who were shown profiles side by side, a row for each profile."""
    if table.person is None:
        return Tasks()
    return _tasks(table, table.person)


def tasks_of_models(table: AnswerTable) -> Tasks:
    """Return the tasks of models, whose rows are the same, with a column of who was asked or in which run."""
    who = table.named(f"{' '.join(PERSONS)} run run_id rep repetition iteration seed")
    return Tasks() if table.model is None else _tasks(table, who or table.model)


def _tasks(table: AnswerTable, person: str) -> Tasks:
    places = [name for name in _PLACES.split() if name in table.columns and name != person]
    for task in dict.fromkeys([*_TASKS.split(), person]):
        if task not in table.columns:
            continue
        rows = list(zip(table.columns[person], table.columns[task], strict=True))
        sizes = Counter(rows).values()
        n, n_whole = Counter(sizes).most_common(1)[0]
        if not 1 < n <= _MOST_PROFILES or n_whole <= _MOST_WHOLE * len(sizes):
            continue
        flags = [name for name in table.columns if table.is_flag(name) and _is_one_of(table.columns[name], rows)]
        chosen = [name for name in flags if _CHOSEN.search(name)] or (flags if len(flags) == 1 else [])
        for place in [name for name in places if name != task and (task != person or chosen)]:
            if _are_places(table, place, n) and len(set(zip(rows, table.columns[place], strict=True))) == table.n_rows:
                return Tasks(task, place, n, tuple(chosen))
        if chosen and task != person:
            return Tasks(task, "", n, tuple(chosen))
    return Tasks()


def _are_places(table: AnswerTable, name: str, n: int) -> bool:
    levels = set(table.levels(name))
    counted = [set(map(str, range(first, first + n))) for first in (0, 1)]
    return levels in counted or (len(levels) == n and not any(map(str.isdecimal, levels)))


def _is_one_of(values: Sequence[str], tasks: Sequence[tuple[str, str]]) -> bool:
    """Return True if of the profiles of each task one is marked; of some nothing may be said."""
    marked: Counter[tuple[str, str]] = Counter()
    for task, value in zip(tasks, values, strict=True):
        if value.lower() not in MISSING:
            marked[task] += value.lower() in TRUE
    return sum(n == 1 for n in marked.values()) > _MOST_WHOLE * len(marked) > 0


def crossing_of(table: AnswerTable, factors: Collection[str], n_profiles: int, named: Mapping[str, str]) -> list[str]:
    """Return the TOML lines on how tasks are drawn: profiles, and pairs of levels that the file never shows
    together."""
    if n_profiles == 1:
        return []
    n_tasks = len(table.columns[next(iter(table.columns))]) // n_profiles
    lines = ["", "[profiles]", f"count = {n_profiles}", "", "[crossing]", 'takes = "random"']
    lines.append(f"n = {min(n_tasks, 200)}                             # tasks of each model")
    never = _never_together(table, factors)
    if never:
        pairs = ",\n".join(
            f"  {{ {named[a]} = {toml_text(one)}, {named[b]} = {toml_text(other)} }}" for a, one, b, other in never
        )
        lines += ["# Levels that never come together in the file, though chance alone would have shown them:"]
        lines += [f"forbidden = [\n{pairs},\n]"]
    return lines


def _never_together(table: AnswerTable, factors: Collection[str]) -> list[tuple[str, str, str, str]]:
    """Return pairs of levels that are never in one row, though many are expected by how frequent each is."""
    counts = {factor: Counter(table.columns[factor]) for factor in factors}
    never = []
    for a, b in combinations(factors, 2):
        seen = set(zip(table.columns[a], table.columns[b], strict=True))
        expected = {
            (one, other): m * n / table.n_rows for one, m in counts[a].items() for other, n in counts[b].items()
        }
        never += [
            (a, *pair[:1], b, *pair[1:]) for pair, n in expected.items() if n >= _EXPECTED_ONCE and pair not in seen
        ]
    return never if len(never) <= _MOST_FORBIDDEN else []


ANSWERS = (
    "answer", "rating", "rating_score", "likert", "score", "scored", "judgment", "judgement", "response",
    "answer_text", "model_answer", "reply", "output", "completion", "chosen", "choice", "support", "hire", "hired",
    "invite", "invited", "callback", "recommend", "recommended", "recommendation", "decision", "likelihood",
    "suitability", "salary", "amount", "estimate", "agreement", "verdict", "ruling", "vote", "opinion", "stance",
    "grade", "selected", "selection", "preference", "prediction",
)  # fmt: skip
_ASKED = re.compile(r"(?:q|question|frage|pregunta|survey|dv|outcome)[_ ]?\d{0,3}[a-z]?(?:_\d{1,2})?")
"""Match columns as programs for surveys name what was answered: q1, q3_2."""
_NEARLY_ALL = 0.9
_SHOWN = re.compile(
    r"(?:^|_)(?:input|inputs|prompt|given|shown|true|truth|gold|expected|target|reference|baseline|human|correct)(?:_|$)"
)
"""Match names of what was put into a prompt, or is right: no answers."""
_AMOUNT = re.compile(r"\W{0,3}(?:[A-Z]{3}\s?)?[$€£]?\s?[-–]?\d")
_LONGEST_AMOUNT = 40


def answers_in(table: AnswerTable, free: Sequence[str]) -> list[str]:
    """Return the columns of answers: those that somebody said, else those of known names, else numbers and yes or no
    whose values are not as frequent as a design has them."""
    if table.answers:
        return list(table.answers)
    if named := [name for name in free if name in ANSWERS and table.levels(name)]:
        long = [name for name in named if kind_of(table.columns[name]) == "text"]
        short = [name for name in named if name not in long]
        given = [name for name in short if not _is_input(table, name, free)]
        return given or short or long[:1]
    if asked := [name for name in free if _ASKED.fullmatch(name) and len(table.levels(name)) > 1]:
        return asked
    first = next((name for name in free if table.can_be_factor(name) and table.numbers(name) is None), None)
    if first is None:
        return []
    found = [
        name
        for name in free
        if name != first
        and not (table.is_counter(name) or _SHOWN.search(name))
        and (table.numbers(name) is not None or table.is_flag(name) or _are_amounts(table, name))
        and len(table.levels(name)) > 1
        and not table.says(first, name)
        and (not table.is_crossed(name) or _is_measured(table, name))
    ]
    return [name for name in found if not table.is_measure(name)] or _words(table, free) or found


def _are_amounts(table: AnswerTable, name: str) -> bool:
    """Return True for numbers with units or words around them ($95k, 10 mg)."""
    levels = table.levels(name)
    begun = sum(_AMOUNT.match(level) is not None and len(level) <= _LONGEST_AMOUNT for level in levels)
    return begun > _NEARLY_ALL * len(levels) and kind_of(table.columns[name]) == "number"


def _words(table: AnswerTable, free: Sequence[str]) -> list[str]:
    """Return the one column of a few words that no design has as frequent as they are, next to factors that are
    crossed."""
    texts = [name for name in free if table.can_be_factor(name) and not table.is_counter(name)]
    odd = [
        name
        for name in texts
        if not table.is_crossed(name) and not any(table.says(other, name) for other in texts if other != name)
    ]
    return odd if len(odd) == 1 < len(texts) and kind_of(table.columns[odd[0]]) in ("choice", "yes_no") else []


def _is_measured(table: AnswerTable, name: str) -> bool:
    """Return True for numbers of which nearly each is another one, in no order: neither levels nor numbers of rows."""
    values = [value for value in table.columns[name] if value]
    numbers = list(map(number_of, values)) if table.numbers(name) else []
    return len(set(numbers)) > _NEARLY_ALL * len(values) and numbers not in (sorted(numbers), sorted(numbers)[::-1])


def _is_input(table: AnswerTable, name: str, free: Sequence[str]) -> bool:
    """Return True for a column called as answers are that says what was shown: right answers, or what another column
    says in all rows (a score of each candidate, put into the prompt)."""
    if _SHOWN.search(name):
        return True
    says = (other for other in free if other != name and other not in ANSWERS and table.can_be_factor(other))
    return any(table.says(other, name) for other in says)
