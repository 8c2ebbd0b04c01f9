"""SECURITY.md says how many attacks there are: as many as the catalogues have."""

from __future__ import annotations

import re
from pathlib import Path

from tests.hostile import links
from tests.hostile.answers import ANSWERS
from tests.hostile.archives import ARCHIVES
from tests.hostile.batch_results import BAD_LINES, ODD_LINES
from tests.hostile.databases import TAMPERED
from tests.hostile.documents import CONDITIONS, LAKES, NOTES, REGISTRATIONS
from tests.hostile.journals import KEPT, REFUSED
from tests.hostile.lists import LISTS_OF_STRANGERS
from tests.hostile.people import FILES
from tests.hostile.providers import PROVIDER_FILES
from tests.hostile.studies import STUDIES
from tests.hostile.test_keys import ECHOES
from tests.hostile.wire import ENDLESS_BODIES, WAITS, WIRES


def test_the_page_counts_the_attacks_that_are_tried(root: Path) -> None:
    page = (root / "SECURITY.md").read_text("utf-8")
    told = [int(count) for count in re.findall(r"^\|[^|]+\| (\d+) \|$", page, re.MULTILINE)]
    http = len(WIRES) + len(ENDLESS_BODIES)
    lines = len(REFUSED) + len(KEPT)
    paths = len(links.JOURNAL) + len(links.LAKE)
    files = [len(each) for each in (ARCHIVES, LISTS_OF_STRANGERS, REGISTRATIONS, LAKES, NOTES, CONDITIONS)]
    first = [len(ANSWERS), http, len(WAITS), len(ECHOES), len(STUDIES), len(TAMPERED), lines, paths]
    assert told == [*first, *files, len(BAD_LINES) + len(ODD_LINES), len(PROVIDER_FILES), len(FILES)]


def test_no_attack_has_the_name_of_another() -> None:
    of_files = (ARCHIVES, TAMPERED, STUDIES, LISTS_OF_STRANGERS, REGISTRATIONS, LAKES, NOTES, PROVIDER_FILES, FILES)
    for catalogue in (ANSWERS, *of_files, (*WIRES, *ENDLESS_BODIES)):
        names = [attack.name for attack in catalogue]
        assert len(set(names)) == len(names)
