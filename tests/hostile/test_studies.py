"""Studies of strangers: read, or refused in one sentence, at once and without filling memory. SECURITY.md says how many
attacks there are: as many as the catalogues have."""

from __future__ import annotations

import re
import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from slant.analysis.fitting.fit_plan import plan_fits
from slant.collector.errors import SlantError, StudyError, UnknownNameError
from slant.collector.studies.catalogue import load_study
from tests.hostile import links
from tests.hostile.answers import ANSWERS
from tests.hostile.archives import ARCHIVES
from tests.hostile.batch_results import BAD_LINES, ODD_LINES
from tests.hostile.become import Hostile
from tests.hostile.databases import TAMPERED
from tests.hostile.documents import CONDITIONS, LAKES, NOTES, REGISTRATIONS
from tests.hostile.journals import KEPT, REFUSED
from tests.hostile.lists import LISTS_OF_STRANGERS
from tests.hostile.people import FILES
from tests.hostile.providers import PROVIDER_FILES
from tests.hostile.studies import STUDIES
from tests.hostile.test_keys import ECHOES
from tests.hostile.wire import ENDLESS_BODIES, WAITS, WIRES
from tests.support.tiny_study import write_tiny

MOST_MB = 300
MOST_S = 1.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@contextmanager
def room_for(most_mb: int) -> Iterator[None]:
    """Meanwhile this process can take so much memory more, and no further."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + most_mb * 1_000_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("hostile", STUDIES, ids=lambda hostile: hostile.name)
def test_a_hostile_study_is_read_as_data_or_refused_in_a_short_sentence(hostile: Hostile, folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    path = write_tiny(folder)
    hostile.become(folder)
    begun = time.process_time()
    with room_for(MOST_MB):
        if hostile.sentence is None:
            study = load_study(path)
            assert len(list(islice(study.design.asks.plan(study, study.models[0], 1).places(1), 9))) == 8
        else:
            with pytest.raises(SlantError) as refused:
                load_study(path)
            assert hostile.sentence in str(refused.value)
            assert len(str(refused.value)) < 1000
    assert time.process_time() - begun < MOST_S


@pytest.mark.parametrize("setting", ["save_to", "draws_to", "say", "cores", "force", "data", "control"])
@pytest.mark.parametrize("engine", ["stm", "brms", "lme4"])
def test_the_settings_of_a_fit_reach_no_argument_of_r_that_writes_a_file(
    engine: str, setting: str, tmp_path: Path
) -> None:
    fit = f'formula = "tokens ~ condition"\nengine = "{engine}"\noutcome = "tokens"\ncontrast = "condition"\nlevels = '
    fit += f'{{ condition = ["compatible", "incompatible"] }}\nsettings = {{ {setting} = "{tmp_path}/written" }}'
    with pytest.raises((UnknownNameError, StudyError), match=setting):
        load_study(write_tiny(tmp_path, study=('formula = "tokens ~ (1 | wording)"', fit)))
    study = load_study(write_tiny(tmp_path))
    written = replace(study.fits["lme4"], engine=engine, outcome="tokens", contrast="condition", settings={setting: 1})
    with pytest.raises((UnknownNameError, StudyError), match=setting):
        plan_fits(tmp_path / "no.duckdb", study, written)


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
