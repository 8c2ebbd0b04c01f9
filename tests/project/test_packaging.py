"""Wheel and source archive: what is in them, and the wheel in an environment of its own, with R and without."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import duckdb
import pytest

from slant.analysis.bridge.r_home import r_installation
from tests.support.fitted import MODELS, small_database
from tests.support.tracked import tracked_files

BUILD = "import sys; from hatchling import build; getattr(build, 'build_' + sys.argv[1])(sys.argv[2])"
LARGEST_BYTES = 3_000_000
INSTALLED = {"slant": "python/slant", **{f"slant/{name}": name for name in ("collector", "analysis", "sql", "R")}}
INSTALLED |= {f"slant/inst/{name}": f"inst/{name}" for name in ("native", "scripts", "stan")}


def build(kind: str, project: Path, folder: Path) -> Path:
    """A wheel, sdist or editable wheel, by hatchling as pip calls it, but without a network."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed here, and a test does not fetch it")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", BUILD, kind, str(folder)], cwd=project, check=True)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", root, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


class Environment:
    """A virtual environment with the wheel and what it requires, and perhaps with rpy2 and R; slant is found nowhere
    else."""

    def __init__(self, folder: Path, wheel: Path, *, with_r: bool) -> None:
        self.bin, self.with_r = folder / "bin", with_r
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet", "--no-index"]
        subprocess.run([*pip, "--no-deps", "--disable-pip-version-check", str(wheel)], check=True)
        (self.site,) = folder.glob("lib/python*/site-packages")
        self.of_wheel = sorted(path.name for path in self.site.iterdir())
        for place in Path(sysconfig.get_path("purelib")).iterdir():
            is_left_out = re.match("_?slant|__pycache__|" + ("$" if with_r else "rpy2"), place.name)
            if not is_left_out and not (self.site / place.name).exists():
                (self.site / place.name).symlink_to(place)

    def type(self, folder: Path, *words: str) -> str:
        """What a command prints; it must end well."""
        path = f"{self.bin}:{os.environ['PATH']}" if self.with_r else str(self.bin)
        done = subprocess.run(
            [str(self.bin / words[0]), *words[1:]],
            cwd=folder,
            env={"PATH": path, "HOME": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def without_r(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("without_r"), wheel, with_r=False)


def test_the_wheel_has_every_file_of_its_folders_that_git_has_and_no_other(root: Path, unpacked: Path) -> None:
    tracked = tracked_files(root)
    wanted = {"slant/__init__.py", "slant/py.typed", "slant/inst/engines.csv", "slant/inst/figures.csv"}
    for place, folder in INSTALLED.items():
        if folder != "python/slant":
            wanted |= {place + path.removeprefix(folder) for path in tracked if path.startswith(f"{folder}/")}
    files = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    assert {path for path in files if ".dist-info/" not in path} == wanted
    assert {path.name.split("-")[0] for path in unpacked.iterdir()} == {"slant"}
    assert list(unpacked.glob("slant-*.dist-info/licenses/LICENSE.md"))


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST_BYTES


@pytest.mark.slow
def test_a_wheel_made_from_the_source_archive_is_the_same(root: Path, wheel: Path, tmp_path: Path) -> None:
    archive = build("sdist", root, tmp_path / "sdist")
    with tarfile.open(archive) as tar:
        assert {member.type for member in tar} == {tarfile.REGTYPE}
        tar.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (again,) = (build("wheel", folder, tmp_path / "again") for folder in tmp_path.glob("slant-*"))
    assert again.name == wheel.name
    contents = [{one.filename: one.CRC for one in zipfile.ZipFile(path).infolist()} for path in (wheel, again)]
    assert contents[0] == contents[1]


@pytest.mark.slow
def test_an_editable_install_puts_one_path_into_site_packages(root: Path, tmp_path: Path) -> None:
    made = zipfile.ZipFile(build("editable", root, tmp_path))
    (pth,) = (name for name in made.namelist() if ".dist-info/" not in name)
    assert pth.endswith(".pth")
    assert made.read(pth).decode().split() == [str(root / "python")]
    assert {path.name for path in (root / "python").iterdir()} == {"slant"}


@pytest.mark.slow
def test_site_packages_gets_nothing_but_slant(without_r: Environment) -> None:
    assert [name.split("-")[0] for name in without_r.of_wheel] == ["slant", "slant"]
    commands = {path.name for path in without_r.bin.iterdir() if "python" not in path.name}
    assert {"slant", "collect", "analyze"} <= commands


@pytest.mark.slow
def test_without_r_the_wheel_collects_loads_and_shows_tables(without_r: Environment, tmp_path: Path) -> None:
    without_r.type(tmp_path, "collect", "--study", "rmiat", "--simulated", "--pilot", "20")
    (tmp_path / "slant.duckdb").unlink()
    without_r.type(tmp_path, "collect", "load")
    with duckdb.connect(str(tmp_path / "slant.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM trials").fetchall() == [(100,)]
    shown = json.loads(without_r.type(tmp_path, "analyze", "tables", "tokens_by_condition", "--format", "json"))
    assert {row["source"] for row in shown} == {"simulated"}
    code = "import slant; print(slant.__file__, slant.open_trials('slant.duckdb').height)"
    found, n_trials = without_r.type(tmp_path, "python", "-c", code).split()
    assert (Path(found).parent.parent, int(n_trials)) == (without_r.site, 100)


@pytest.mark.slow
def test_without_r_a_fit_says_what_is_missing(without_r: Environment, tmp_path: Path) -> None:
    small_database(tmp_path / "slant.duckdb")
    with pytest.raises(AssertionError, match="R is not on this machine"):
        without_r.type(tmp_path, "analyze", "--fit", "effect_size")


@pytest.mark.slow
@pytest.mark.skipif(r_installation() is None, reason="R is not on this machine")
def test_with_r_the_wheel_fits(wheel: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "with_r", wheel, with_r=True)
    small_database(tmp_path / "slant.duckdb")
    for engine in ("effect_size", "lme4"):
        fits = json.loads(environment.type(tmp_path, "analyze", "--fit", engine, "--format", "json"))
        assert len({row["model"] for row in fits}) == len(MODELS)
    said = environment.type(tmp_path, "analyze", "doctor", "--format", "json")
    assert {row["status"] for row in json.loads(said) if row["name"] in ("R", "rpy2-rinterface")} == {"ok"}
