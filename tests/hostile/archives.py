"""What a stranger may have packed into a ZIP file and called an archive of slant's, and the sentence that refuses it.

`pack` writes the file: it is handed the members of a true archive, as names and bytes, and the path to write to.
"""

from __future__ import annotations

import hashlib
import io
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Members = Mapping[str, bytes]
MANIFEST = "manifest-sha256.txt"


@dataclass(frozen=True)
class HostileArchive:
    name: str
    pack: Callable[[Members, Path], None]
    sentence: str


def manifest(members: Members) -> bytes:
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items()).encode()


def packed(members: Members, path: Path) -> None:
    """All of these, with a manifest that names all of these."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in ({MANIFEST: manifest(members)} | dict(members)).items():
            file.writestr(name, data)


def with_file(name: str, data: bytes = b"x") -> Callable[[Members, Path], None]:
    return lambda members, path: packed({**members, name: data}, path)


def with_entry(change: Callable[[zipfile.ZipInfo], None], data: bytes = b"x") -> Callable[[Members, Path], None]:
    """An entry of an allowed name, of another kind than a file."""

    def pack(members: Members, path: Path) -> None:
        packed({**members}, path)
        info = zipfile.ZipInfo("tables/x.csv")
        change(info)
        with zipfile.ZipFile(path, "a") as file:
            file.writestr(info, data)

    return pack


def of_kind(mode: int) -> Callable[[zipfile.ZipInfo], None]:
    def change(info: zipfile.ZipInfo) -> None:
        info.create_system, info.external_attr = 3, (mode | 0o777) << 16

    return change


def changed_bytes(change: Callable[[bytearray], bytes]) -> Callable[[Members, Path], None]:
    def pack(members: Members, path: Path) -> None:
        packed(members, path)
        path.write_bytes(change(bytearray(path.read_bytes())))

    return pack


def in_list(offset: int, value: bytes) -> Callable[[bytearray], bytes]:
    """Other bytes at this place of the first entry of the list of files."""

    def change(data: bytearray) -> bytes:
        start = data.find(b"PK\x01\x02") + offset
        data[start : start + len(value)] = value
        return bytes(data)

    return change


def with_a_null_in_a_name(members: Members, path: Path) -> None:
    packed({**members, "tables/x.csv!.exe": b"x"}, path)
    path.write_bytes(path.read_bytes().replace(b"x.csv!.exe", b"x.csv\0.exe"))


def twice(members: Members, path: Path) -> None:
    packed(members, path)
    with zipfile.ZipFile(path, "a") as file, warnings.catch_warnings(action="ignore"):
        file.writestr("replay.json", b"{}")


def bomb(members: Members, path: Path) -> None:
    packed({**members, "tables/x.csv": b"0" * 52_000_000}, path)


def bombs_on_one_heap(members: Members, path: Path) -> None:
    """Many files whose entries point to the same packed bytes (Fifield 2019)."""
    packed({**members, "tables/x0.csv": b"0" * 4_000_000}, path)
    data = path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    start = struct.unpack("<L", data[end + 16 : end + 20])[0]
    entries = data[start:end]
    place = entries.rindex(b"PK\x01\x02")
    copies = b"".join(entries[place:].replace(b"x0.csv", b"x%d.csv" % n) for n in range(1, 10))
    count = struct.unpack("<H", data[end + 10 : end + 12])[0] + 9
    tail = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, count, count, len(entries) + len(copies), start, 0)
    path.write_bytes(data[:start] + entries + copies + tail)


def a_million_entries(members: Members, path: Path) -> None:
    """The list is as long as that of 10^6 empty files, and says so or says that it holds one."""
    packed(members, path)
    with path.open("ab") as file:
        start = file.tell()
        entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
        some = b"".join(entry + b"%06d" % number for number in range(10_000))
        for _ in range(100):
            file.write(some)
        n_bytes = file.tell() - start
        file.write(struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, 1, 1, n_bytes, start, 0))


def of_one_more(members: Members) -> bytes:
    return manifest({**members, "tables/x.csv": b"x"})


def of_other_lines(members: Members) -> bytes:
    return manifest(members) + b"0000  ../x\n"


def with_manifest(said: Callable[[Members], bytes] | None, **more: bytes) -> Callable[[Members, Path], None]:
    """An archive of its files and `more` of tables/, with a manifest that says something else, or none."""

    def become(members: Members, path: Path) -> None:
        with zipfile.ZipFile(path, "w") as file:
            if said:
                file.writestr(MANIFEST, said(members))
            for name, data in {**members, **{f"tables/{name}.csv": data for name, data in more.items()}}.items():
                file.writestr(name, data)

    return become


def nested(members: Members) -> bytes:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        file.writestr("x.csv", b"x")
    return inner.getvalue()


ARCHIVES = (
    HostileArchive("a path outside", with_file("../x.csv"), "leads elsewhere"),
    HostileArchive("a path outside, further in", with_file("tables/../../x.csv"), "leads elsewhere"),
    HostileArchive("an absolute path", with_file("/tmp/x.csv"), "path is absolute"),
    HostileArchive("a path of Windows", with_file("C:\\x.csv"), "path is absolute"),
    HostileArchive("a path outside of Windows", with_file("tables\\..\\..\\x.csv"), "characters or a form"),
    HostileArchive("a device of Windows", with_file("tables/con.csv"), "characters or a form"),
    HostileArchive("a stream of Windows", with_file("tables/x.csv:y.csv"), "characters or a form"),
    HostileArchive("a name of two forms", with_file("study/v/cafe\u0301.csv"), "characters or a form"),
    HostileArchive("a name that turns direction", with_file("study/v/x\u202evsc.csv"), "characters or a form"),
    HostileArchive("a name that ends in a blank", with_file("tables/x.csv "), "characters or a form"),
    HostileArchive("a name of 60,000 characters", with_file("study/" + "x" * 60_000 + ".csv"), "60,010 characters"),
    HostileArchive("a null character in a name", with_a_null_in_a_name, "characters or a form"),
    HostileArchive("an empty part of a path", with_file("tables//x.csv"), "leads elsewhere"),
    HostileArchive("a program", with_file("run.sh"), "puts no such file"),
    HostileArchive("an R object", with_file("fits/model.rds"), "puts no such file"),
    HostileArchive("a database", with_file("data/x.duckdb"), "puts no such file"),
    HostileArchive("a hidden file", with_file("tables/.Rprofile"), "puts no such file"),
    HostileArchive("a folder of its own", with_file("tables/deep/x.csv"), "puts no such file"),
    HostileArchive("an archive in it", lambda m, path: packed({**m, "data/x.zip": nested(m)}, path), "no such file"),
    HostileArchive("a compressed journal", with_file("journal/x.jsonl.zst"), "puts no such file"),
    HostileArchive("a symbolic link", with_entry(of_kind(stat.S_IFLNK), b"/etc/passwd"), "a link, a folder"),
    HostileArchive("a pipe", with_entry(of_kind(stat.S_IFIFO)), "a link, a folder"),
    HostileArchive("a device", with_entry(of_kind(stat.S_IFCHR)), "a link, a folder"),
    HostileArchive("a folder as an entry", with_file("tables/x.csv/"), "leads elsewhere"),
    HostileArchive("a file of one name twice", twice, "twice"),
    HostileArchive("names that some systems take for one", with_file("Replay.JSON"), "puts no such file"),
    HostileArchive("tables that some systems take for one", with_file("tables/ANSWER_SIZES.csv"), "are one name"),
    HostileArchive(
        "a file where a folder is",
        lambda m, path: packed({**m, "study/v.csv": b"x", "study/v.csv/x.csv": b"x"}, path),
        "is inside of a file",
    ),
    HostileArchive("an encrypted file", changed_bytes(in_list(8, b"\x01\x00")), "encrypted"),
    HostileArchive("another compression", changed_bytes(in_list(10, b"\x0c\x00")), "compressed in a way"),
    HostileArchive("a bomb", bomb, "would grow"),
    HostileArchive("many bombs on one heap", bombs_on_one_heap, "shares its bytes|would grow"),
    HostileArchive("a size that is a lie", changed_bytes(in_list(24, b"\xff\xff\xff\x7f")), "would grow"),
    HostileArchive("10^6 entries", a_million_entries, "are the most"),
    HostileArchive("no manifest", with_manifest(None), "has no manifest"),
    HostileArchive("a file that the manifest lacks", with_manifest(manifest, x=b"x"), "not named by its manifest"),
    HostileArchive("a file that only the manifest has", with_manifest(of_one_more), "and not there"),
    HostileArchive("a manifest with other lines", with_manifest(of_other_lines), "of its manifest-sha256.txt is none"),
    HostileArchive("no ZIP file", changed_bytes(lambda data: b"x" * 5000), "no ZIP file"),
    HostileArchive("an empty file", changed_bytes(lambda data: b""), "no ZIP file"),
    HostileArchive("a comment behind it", changed_bytes(lambda data: bytes(data[:-2] + b"\x01\x00x")), "no ZIP file"),
    HostileArchive(
        "a program before it", changed_bytes(lambda data: b"#!/bin/sh\n" + bytes(data)), "precedes its first"
    ),
    HostileArchive("half of a file", changed_bytes(lambda data: bytes(data[: len(data) // 2])), "no ZIP file"),
    HostileArchive(
        "a list that is elsewhere", changed_bytes(lambda data: bytes(data[:-6] + b"\xff" * 4 + b"\0\0")), "."
    ),
    HostileArchive("steps that slant has not", with_file("replay.json", b'{"steps": [{"kind": "system"}]}'), "replay"),
    HostileArchive("a study by a path", with_file("replay.json", b'{"study": "../../x.toml"}'), "can't be read"),
)
