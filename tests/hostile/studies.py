"""What the file of a study, or one that it names, may be made to do: a change of the tiny study, and its sentence.

`become(folder)` changes a folder that write_tiny() has filled; `sentence` is a piece of what StudyError says then, or
None where the study is read: what looks dangerous there is data, and stays it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from tests.hostile.become import Hostile, instead

STIMULI = 'stimuli = "stimuli.csv"'


def _changed(file: str, old: str, new: str) -> Callable[[Path], object]:
    def become(folder: Path) -> None:
        text = (folder / file).read_text("utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), "utf-8")

    return become


def _names(file: str) -> Callable[[Path], object]:
    return _changed("study.toml", STIMULI, f'stimuli = "{file}"')


def _named_and(file: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    def become(folder: Path) -> None:
        make(folder / file)
        _names(file)(folder)

    return become


def _appended(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "study.toml").open("a", encoding="utf-8").write(f"\n{text}\n")


def _of_2_gb(path: Path) -> None:
    path.touch()
    os.truncate(path, 2_000_000_000)


def _bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))


def _study_of_2_gb(folder: Path) -> None:
    _of_2_gb(folder / "study.toml")


def _print_of_2_gb(folder: Path) -> None:
    _of_2_gb(folder / "p.csv")
    _changed("study.toml", "title", 'published = "p.csv"\ntitle')(folder)


def _written(file: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / file).write_bytes(data)


_HEADER, _ROW = b"test,side,group,word", b"\ntea_coffee,group_a,Tea,"
_OUTSIDE, _NO_NAME = "lies outside the folder", "can't be called"
_BAD_NAMES = {
    "SQL": "x'); DROP TABLE attempts;--", "HTML": "<script>alert(1)</script>", "nothing": "", "a path": "../a",
    "10 kB": "a" * 10_000, "a line end": r"a\nError: b", "bidirectional": r"a\u202eb", "a cell": "=1+1",
}  # fmt: skip

STUDIES = (
    *(
        Hostile(f"names {what}", _names(path), _OUTSIDE)
        for what, path in {
            "a file above": "../secret.csv",
            "an absolute path": "/etc/passwd",
            "what Linux tells": "/proc/self/environ",
            "a drive of Windows": r"C:\\x.csv",
            "a share of Windows": r"\\\\host\\x.csv",
            "a path with NUL": r"a\u0000b",
        }.items()
    ),
    Hostile("names an address", _names("http://127.0.0.1/x.csv"), "there is no such file"),
    Hostile("names a folder", _named_and("sub", Path.mkdir), "it is not a file"),
    Hostile("names a pipe", _named_and("pipe.csv", os.mkfifo), "it is not a file"),
    Hostile("names a socket", _named_and("socket.csv", _bound), "it is not a file"),
    Hostile("names a device by a link", _named_and("zero.csv", lambda p: p.symlink_to("/dev/zero")), _OUTSIDE),
    Hostile("names a link to itself", _named_and("loop.csv", lambda p: p.symlink_to(p.name)), "lead in a circle"),
    Hostile("names a name without end", _names("a" * 5000), "can't be read: File name too long"),
    Hostile("names 2 GB", _named_and("big.csv", _of_2_gb), "larger than 8 MB"),
    Hostile("has printed numbers of 2 GB", _print_of_2_gb, "larger than 8 MB"),
    Hostile("is 2 GB", _study_of_2_gb, "larger than 1 MB"),
    Hostile("is a pipe", lambda folder: instead(os.mkfifo)(folder / "study.toml"), "There is no study file"),
    Hostile("has a million words", _written("stimuli.csv", _HEADER + _ROW * 10**6), "larger than 8 MB"),
    Hostile("has a million columns", _written("stimuli.csv", _HEADER + b",c" * 10**6), 'no key "c"'),
    Hostile("has a cell of 5 MB", _written("stimuli.csv", _HEADER + _ROW + b"x" * 5_000_000), "is not CSV"),
    Hostile("is Latin-1", _written("stimuli.csv", _HEADER + _ROW + b"caf\xe9\n"), "a byte that is not UTF-8"),
    Hostile("is UTF-16", _written("stimuli.csv", (_HEADER + _ROW).decode().encode("utf-16")), "that is not UTF-8"),
    Hostile("holds NUL", _written("stimuli.csv", _HEADER + _ROW + b"a\0b\n"), "line 2 holds a NUL character"),
    Hostile("holds NUL in its TOML", _changed("study.toml", "Tea and", "Tea\0and"), "holds a NUL character"),
    *(
        Hostile(f"nests {what} 100,000 deep", _appended(text), "it is not TOML")
        for what, text in {"lists": "x = " + "[" * 100_000, "tables": "x = " + "{a=" * 100_000}.items()
    ),
    *(
        Hostile(f"nests {what}", _appended(text), "a key in it is nested more than 16 deep")
        for what, text in {
            "a key 100,000 deep": ".".join(["a"] * 100_000) + " = 1",
            "headers": "[" + "a . " * 100_000 + "a]",
            "quoted keys": ".".join(['"a b"'] * 50_000) + " = 1",
        }.items()
    ),
    Hostile("has a key of 900 kB", _appended("a" * 900_000 + " = 1"), 'There is no key "aaaa'),
    Hostile("has quotes without end", _appended("x = " + "'\"" * 200_000), "it is not TOML"),
    Hostile("has a number of 10,000 digits", _appended("x = " + "9" * 10_000), "Exceeds the limit (4300 digits)"),
    Hostile("has variants in a circle", _appended("[variants.a]\nlike = 'b'\n[variants.b]\nlike = 'a'"), "no variant"),
    Hostile(
        "has variants like variants like variants",
        _appended("\n".join(f"[variants.v{n}]\nlike = 'v{n + 1}'" for n in range(400)) + "\n[variants.v400]"),
        "are like others more than 16 deep",
    ),
    Hostile(
        "reads what Python knows", _changed("wordings.csv", "{word}", "{word.__class__.__mro__}"), "no placeholder"
    ),
    Hostile("asks for a width of 10 GB", _changed("wordings.csv", "{word}", "{word:>9999999999}"), "no placeholder"),
    *(
        Hostile(f"is called {what}", _changed("study.toml", '"drinks"', f'"{name}"'), _NO_NAME)
        for what, name in _BAD_NAMES.items()
    ),
    *(
        Hostile(f"calls a model {what}", _changed("study.toml", '"small"', f'"{name}"'), _NO_NAME)
        for what, name in _BAD_NAMES.items()
    ),
    *(
        Hostile(f"calls a variant {what}", _changed("study.toml", "variants.balanced", f'variants."{name}"'), _NO_NAME)
        for what, name in _BAD_NAMES.items()
    ),
    Hostile("has a word twice but for its case", _changed("stimuli.csv", "sencha", "Oolong"), "is in group_a twice"),
    Hostile(
        "has a word twice in two forms of Unicode",
        lambda folder: (
            _changed("stimuli.csv", "oolong", "caf\u00e9")(folder),
            _changed("stimuli.csv", "sencha", "cafe\u0301")(folder),
        ),
        "is in group_a twice",
    ),
    *(
        Hostile(
            f"sets {name} of a request",
            _changed("study.toml", '"small"', f'"small"\nsettings = {{ {name} = 9 }}'),
            f'can\'t hold "{name}"',
        )
        for name in ("model", "messages", "n", "stream", "tools")
    ),
    Hostile(
        "names an address of a server", _changed("study.toml", '"small"', '"small"\nbase_url = "http://x"'), "no key"
    ),
    Hostile("names the variable of a key", _changed("study.toml", '"small"', '"small"\nkey_variable = "X"'), "no key"),
    Hostile(
        "wants a seed of 10^30",
        _changed("study.toml", "title", "seed = 1000000000000000000000000000000\ntitle"),
        "at most 64 can be read",
    ),
    Hostile("wants a temperature of NaN", _changed("study.toml", "title", "temperature = nan\ntitle"), "number from 0"),
    *(
        Hostile(f"has the word {what}", _changed("stimuli.csv", "oolong", f'"{word}"'), None)
        for what, word in {
            "NA": "NA",
            "NULL": "NULL",
            "of SQL": "x'); DROP TABLE attempts;--",
            "of HTML": "</script><script>",
            "TRUE": "TRUE",
            "with braces": "{word} {0}",
            "of a formula": "=1+1",
            "of 10 kB": "a" * 10_000,
        }.items()
    ),
)
