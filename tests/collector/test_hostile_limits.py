"""Small files that would take all memory or end in a traceback, refused in a sentence before they can."""

from __future__ import annotations

import struct
import zipfile
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.collector.designs.factorial.factors import RESERVED, checked_column
from slant.collector.designs.proposed_study import name_of
from slant.collector.errors import StudyError, UsageError
from slant.collector.importing.files.kinds import kind_of
from slant.collector.importing.files.packed import as_parquet, unpacked_size
from slant.collector.importing.files.workbooks import check_dimensions
from slant.collector.importing.people.columns import people_columns
from slant.collector.providers.own_providers import own_rows
from slant.collector.study.toml_table import parsed_toml
from tests.support.each_row import each_row


@pytest.mark.parametrize("last", ['<c r="XFD1048576">', "<x:c  s='1' r='ZZZ900000'>", '<row r="999999999">'])
def test_a_workbook_of_two_far_cells_is_refused_before_it_is_read(last: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", f'<sheetData><row r="1"><c r="A1"/></row>{last}<v>1</v>')
    with pytest.raises(UsageError, match=r"spans .* cells"):
        check_dimensions(tmp_path / "a.xlsx", "a.xlsx")


def record(kind: int, *numbers: int) -> bytes:
    """A record of a binary sheet: its kind, its length, whole numbers of four bytes."""
    kinds = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return kinds + bytes([4 * len(numbers)]) + struct.pack(f"<{len(numbers)}I", *numbers)


@each_row(("row", "column", "is_read"), [(1_048_575, 16_383, False), (999, 20, True)])
def test_cells_of_a_binary_workbook_are_looked_at_as_well(row: int, column: int, is_read: bool, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsb", "w") as book:
        sheet = record(129) + record(0, 0, 0) + record(5, 0, 0, 0, 0) + record(0, row, 0) + record(5, column, 0, 0, 0)
        book.writestr("xl/worksheets/sheet1.bin", sheet + record(130))
    with nullcontext() if is_read else pytest.raises(UsageError, match=r"spans .* cells"):
        check_dimensions(tmp_path / "a.xlsb", "a.xlsb")


FORMS = [(write, packed) for write in ("write_ipc", "write_ipc_stream") for packed in ("uncompressed", "lz4", "zstd")]


@each_row(("write", "packed"), FORMS)
def test_an_arrow_file_says_how_large_it_is_before_it_is_unpacked(write: Any, packed: str, tmp_path: Path) -> None:
    n_rows = 70_000
    words = pl.Series(["rose", "ant", "tea"][n % 3] for n in range(n_rows)).cast(pl.Categorical)
    frame = pl.DataFrame({"g": words, "answer": pl.zeros(n_rows, dtype=pl.Int64, eager=True), "no": [None] * n_rows})
    getattr(frame, write)(tmp_path / "a.arrow", compression=packed)
    assert 12 * n_rows <= unpacked_size((tmp_path / "a.arrow").read_bytes()) <= 20 * n_rows
    kind = kind_of(tmp_path / "a.arrow")
    with pytest.raises(UsageError, match="more than 2 GB"):
        as_parquet(tmp_path / "a.arrow", kind, tmp_path / "a.parquet", 11 * n_rows)
    assert not (tmp_path / "a.parquet").exists()
    assert pl.read_parquet(as_parquet(tmp_path / "a.arrow", kind, tmp_path / "a.parquet", 10**9)).height == n_rows
    (tmp_path / "a.parquet").unlink()


@settings(max_examples=60)
@given(cut=st.integers(0, 1_000), place=st.integers(0, 900), byte=st.integers(0, 255))
def test_a_damaged_arrow_file_is_a_sentence(cut: int, place: int, byte: int) -> None:
    with TemporaryDirectory() as folder:
        pl.DataFrame({"g": ["a", "b"], "answer": [1, 2]}).write_ipc(
            file := Path(folder) / "a.arrow", compression="zstd"
        )
        data = bytearray(file.read_bytes()[:cut] or b"ARROW1")
        data[min(place, len(data) - 1)] = byte
        file.write_bytes(data)
        n_rows, said = 0, ""
        try:
            n_rows = pl.read_parquet(as_parquet(file, "arrow", Path(folder) / "a.parquet", 10**9)).height
        except UsageError as error:
            said = error.what
        assert said.endswith((".", ":")) if said else n_rows <= 2


@pytest.mark.parametrize("number", ["0x" + "f" * 4000, "-9223372036854775809", "0o7777777777777777777777"])
def test_a_number_of_more_than_64_bits_is_not_read_from_toml(number: str) -> None:
    with pytest.raises(ValueError, match="at most 64"):
        parsed_toml(f"a = [{{ b = {number} }}]")


R_WORDS = ("if", "else", "repeat", "while", "function", "for", "next", "break", "in")


def test_a_word_of_r_is_no_factor_no_column_of_people_and_none_that_is_proposed() -> None:
    for word in R_WORDS:
        with pytest.raises(StudyError, match="a word of R"):
            checked_column(word, "[factors]")
        with pytest.raises(UsageError, match="can't be called"):
            people_columns((), (f"{word}=AGE",), ())
        assert name_of(word, RESERVED) == f"{word}_1"


def test_a_name_that_no_formula_takes_is_no_factor() -> None:
    for name in ("TRUE", "NULL", "NA", "Inf", "a__b", "a_", "_a", "1a", "a.b", "a b", "a:b", "`a`", "é"):
        with pytest.raises(StudyError, match="can't be the name"):
            checked_column(name, "[factors]")


@pytest.mark.parametrize("header", ["Host", "content-length", "Cookie"])
def test_no_key_goes_into_a_header_that_directs_the_request(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'name = "lab"\naddress = "https://lab.example/v1"\ndialect = "chat-completions"\nkey_variable = "LAB_KEY"\n'
    (tmp_path / "providers.toml").write_text(f'[[providers]]\n{text}key_header = "{header}"\n')
    monkeypatch.setenv("SLANT_PROVIDERS", str(tmp_path / "providers.toml"))
    with pytest.raises(UsageError, match="directs the request"):
        own_rows(("chat-completions",))
