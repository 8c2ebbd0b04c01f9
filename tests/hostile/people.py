"""Files of people's answers that hold more than was asked for. Nothing with CANARY in it may be kept."""

from __future__ import annotations

from dataclasses import dataclass

CANARY = "zyx7canary"


@dataclass(frozen=True)
class PeopleFile:
    """`person` are columns that are named; `refusal` is said if nothing comes in, `problem` of a row that does not."""

    name: str
    text: str
    person: tuple[str, ...] = ()
    refusal: str = ""
    problem: str = ""
    file: str = "rows.csv"


def _rows(header: str, *rows: str) -> str:
    return "\n".join([header, *rows, ""])


_PLAIN = "participant,item,answer"


def _with(column: str, cell: str) -> str:
    """A file of one answer with one column more."""
    return _rows(f"{_PLAIN},{column}", f"1,tea,2,{cell}")


_NESTED = f'{{"participant":"1","item":"tea","answer":"2","of":{{"n":"{CANARY}"}}}}'
FILES = (
    PeopleFile("has addresses in a column of no name that is known", _with("mail", f"{CANARY}@x.org")),
    PeopleFile("has ids that are addresses", _rows(_PLAIN, f"{CANARY}@x.org,tea,2")),
    PeopleFile("is called like a person", _rows(_PLAIN, "1,tea,2"), file=f"{CANARY}.csv"),
    PeopleFile(
        "has a text in a column called as ours, of games", _rows(f"{_PLAIN},note,detail", f"1,tea,2,{CANARY},{CANARY}")
    ),
    PeopleFile("names a column of addresses", _with("mail", f"{CANARY}@x.org"), ("mail",), "has an e-mail address"),
    PeopleFile("names a column of IP addresses", _with("net", "203.0.113.77"), ("net",), "has an IP address"),
    PeopleFile("names a column of telephones", _with("call", "+49 171 5550123"), ("call",), "a telephone number"),
    PeopleFile(
        "names a column of coordinates",
        _rows(f"{_PLAIN},place", *(f"{n},tea,2,{n}.123456" for n in range(60))),
        ("place",),
        "which tells them apart",
    ),
    PeopleFile("names a column of free texts", _with("story", f"{CANARY * 20}"), ("story",), "texts of more than"),
    PeopleFile("has an address in an answer", _rows(_PLAIN, f"1,tea,{CANARY}@x.org"), problem="has an e-mail address"),
    PeopleFile(
        "has a telephone in an answer", _rows(_PLAIN, "1,tea,+49 171 5550123"), problem="has a telephone number"
    ),
    PeopleFile("has a byte that is not UTF-8 behind a name", _with("who", f"{CANARY}\udcff"), problem="not UTF-8"),
    PeopleFile(
        "has a row that is too long",
        _rows(_PLAIN, f"1,tea,2,{CANARY}"),
        problem="has 4 fields, but the first line names 3",
    ),
    PeopleFile("has a latency that is a text", _with("rt", f"{CANARY}"), problem="response_time_ms must be"),
    PeopleFile("has a phase that is a text", _with("phase", f"{CANARY}"), problem="phase must be one of"),
    PeopleFile("says nobody's name", _rows("item,answer", "tea,2"), problem="doesn't say whose answer it is"),
    PeopleFile("answers twice", _rows(_PLAIN, *["1,tea,2"] * 2), problem="is a second answer of a participant"),
    PeopleFile(
        "is of jsPsych, with a browser and a place",
        f'[{{"trial_type":"x","trial_index":0,"item":"tea","answer":"2","ip":"{CANARY}","agent":"{CANARY}"}}]',
        file="data.json",
    ),
    PeopleFile("hides a person in a nested field", f"{_NESTED}\n", file="d.jsonl"),
    PeopleFile(
        "commands a terminal in the name of a column",
        _with(f"\x1b]0;{CANARY}\x07", "x"),
    ),
)
