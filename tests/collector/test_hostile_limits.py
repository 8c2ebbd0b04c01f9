"""Small files that would take all memory or end in a traceback, refused in a sentence before they can."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from slant.collector.designs.factorial.factors import checked_column
from slant.collector.errors import StudyError, UsageError
from slant.collector.importing.files.workbooks import check_dimensions
from slant.collector.providers.own_providers import own_rows
from slant.collector.study.toml_table import parsed_toml


@pytest.mark.parametrize("last", ['<c r="XFD1048576">', "<x:c  s='1' r='ZZZ900000'>", '<row r="999999999">'])
def test_a_workbook_of_two_far_cells_is_refused_before_it_is_read(last: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", f'<sheetData><row r="1"><c r="A1"/></row>{last}<v>1</v>')
    with pytest.raises(UsageError, match=r"spans .* cells"):
        check_dimensions(tmp_path / "a.xlsx", "a.xlsx")


@pytest.mark.parametrize("number", ["0x" + "f" * 4000, "-9223372036854775809", "0o7777777777777777777777"])
def test_a_number_of_more_than_64_bits_is_not_read_from_toml(number: str) -> None:
    with pytest.raises(ValueError, match="at most 64"):
        parsed_toml(f"a = [{{ b = {number} }}]")


@pytest.mark.parametrize("word", ["if", "next", "function", "in", "for"])
def test_a_word_of_r_is_no_factor(word: str) -> None:
    with pytest.raises(StudyError, match="a word of R"):
        checked_column(word, "[factors]")


@pytest.mark.parametrize("header", ["Host", "content-length", "Cookie"])
def test_no_key_goes_into_a_header_that_directs_the_request(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'name = "lab"\naddress = "https://lab.example/v1"\ndialect = "chat-completions"\nkey_variable = "LAB_KEY"\n'
    (tmp_path / "providers.toml").write_text(f'[[providers]]\n{text}key_header = "{header}"\n')
    monkeypatch.setenv("SLANT_PROVIDERS", str(tmp_path / "providers.toml"))
    with pytest.raises(UsageError, match="directs the request"):
        own_rows(("chat-completions",))
