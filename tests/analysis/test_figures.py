"""`analyze figures`: files that anybody can use, with words for those who don't see them, for any study."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from slant import analysis
from slant.analysis.plots.drawing import Figure, draw
from slant.analysis.plots.registry import FIGURES, figure_rows
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import database
from tests.support.tiny_study import write_tiny

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("figures") / "a.duckdb")


def test_every_figure_is_drawn_as_svg_and_png_and_says_in_words_that_nobody_was_asked(db: Path, tmp_path: Path) -> None:
    drawn = analysis.figures(db, out=tmp_path / "new" / "figures")
    assert drawn["problem"].null_count() == drawn.height
    assert {"effect_sizes", "tokens", "refusals", "token_steps"} <= set(drawn["figure"]) <= set(FIGURES)
    endings = drawn.group_by("figure").agg(pl.col("path").str.split(".").list.last())
    assert set(map(tuple, endings["path"])) == {("svg", "png")}
    for row in drawn.to_dicts():
        path = Path(row["path"])
        assert path.stem == f"{row['figure']}-simulated-base"
        assert path.read_bytes()[:4] == {".svg": b"<?xm", ".png": b"\x89PNG"}[path.suffix]
        assert "Simulated answers: no model was asked." in row["alt_text"]
        if path.suffix == ".svg":
            assert ElementTree.parse(path).getroot().findtext(f"{SVG}desc") == row["alt_text"]


def test_names_to_order_and_to_highlight_are_looked_for_in_what_figures_show(db: Path, tmp_path: Path) -> None:
    asked = {"names": ["refusals"], "formats": ["svg"], "out": tmp_path / "figures"}
    with pytest.raises(UnknownNameError, match='no name to order or highlight "nobody" in these figures'):
        analysis.figures(db, highlight=["nobody"], **asked)
    models = pl.Series([row["model"] for row in trials()]).unique().sort()
    plain, marked = (
        Path(analysis.figures(db, highlight=names, **asked)["path"][0]).read_bytes() for names in ([], [models[0]])
    )
    assert plain != marked
    assert analysis.figures(db, order=[models[-1]], **asked)["problem"].to_list() == [None]


def test_the_figure_of_steps_finds_the_step_and_refusals_are_counted(tmp_path: Path) -> None:
    rows = [{**row, "tokens": 64 * (row["tokens"] // 64)} for row in trials()]
    db = database(tmp_path / "a.duckdb", rows, [RUN])
    found = {one.figure: one for one in figure_rows(db, load_study("rmiat"), ["refusals", "token_steps"])}
    refusals = found["refusals"].rows
    assert (refusals["n_trials"].sum(), refusals["n_refusals"].sum()) == (160, 8)
    (steps,) = draw([("plot_token_steps", found["token_steps"].rows)], workers=1)
    assert not isinstance(steps, str)
    assert "Steps in tokens: o3-mini 64; DeepSeek-R1 64." in steps.alt_text


def test_a_figure_bears_the_title_that_was_asked_for_and_a_page_gets_fewer_dots(db: Path, tmp_path: Path) -> None:
    asked = {"title": "Steps, by me", "width": 4.0, "height": 3.0}
    (row,) = analysis.figures(db, out=tmp_path, names=["refusals"], formats=["svg"], **asked).to_dicts()
    assert ElementTree.parse(row["path"]).getroot().findtext(f"{SVG}title") == "Steps, by me"
    (figure,) = figure_rows(db, load_study("rmiat"), ["refusals"])
    (image,) = draw([(figure.function, figure.rows)], workers=1, dpi=50, width=4.0, height=3.0)
    assert not isinstance(image, str)
    assert struct.unpack(">II", image.image[16:24]) == (200, 150)


def _fonts_with(point: int) -> bytes:
    return subprocess.run(["fc-list", f":charset={point:x}"], capture_output=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fc-list") is None, reason="fontconfig is not here")
def test_letters_without_a_font_are_told_beside_the_figure_and_nothing_else_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rare = next(chr(point) for point in range(0xE000, 0xF8FF) if not _fonts_with(point))
    rows = pl.DataFrame({"model": [f"m {rare}"] * 40, "test": ["t"] * 40, "condition": ["a", "b"] * 20})
    rows = rows.with_columns(tokens=pl.Series(range(40)).cast(pl.Float64), outcome=pl.lit("answered"))
    (figure,) = draw([("plot_tokens", rows)], workers=1)
    assert isinstance(figure, Figure), figure
    assert rare in str(figure.note)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_study_of_ones_own_has_figures_too(tmp_path: Path) -> None:
    own = {"study": "drinks", "test": "tea_coffee"}
    refused = {"outcome": "refused", "answer": "No."}
    rows = [{**row, **own, **(refused if n % 8 == 0 else {})} for n, row in enumerate(trials())]
    db = database(tmp_path / "a.duckdb", rows, [{**RUN, "study": "drinks", "design": "association"}])
    found = list(figure_rows(db, load_study(str(write_tiny(tmp_path)))))
    assert [one.figure for one in found] == ["tokens", "refusals", "token_steps"]
    assert found[0].rows["model_label"].unique(maintain_order=True).to_list() == ["o3-mini", "DeepSeek-R1"]
    other_words = [row for row in rows if row.get("answer") not in ("Pleasant", "Unpleasant")]
    assert found[1].rows["n_refusals"].sum() == 20 < len(other_words)  # the exact rule is that of `rmiat` only
    figures = draw([(f"plot_{one.figure}", one.rows) for one in found])
    assert [one for one in figures if isinstance(one, str)] == []


def test_what_can_not_be_drawn_or_written_is_one_sentence(db: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "refusals"'):
        analysis.figures(db, out=tmp_path, names=["refusal"])
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="Can't write figures"):
        analysis.figures(db, out=tmp_path / "file" / "figures", names=["refusals"], formats=["svg"])


def test_figures_are_as_wide_as_they_are_asked_to_be_and_of_the_format(db: Path, tmp_path: Path) -> None:
    rows = analysis.figures(db, out=tmp_path / "f", names=["tokens"], formats=["svg", "pdf"], width=3.5, height=6)
    svg, pdf = (Path(path) for path in rows["path"])
    root = ElementTree.parse(svg).getroot()
    assert [root.get(side, "").removesuffix("pt") for side in ("width", "height")] == ["252", "432"]
    assert (pdf.suffix, pdf.read_bytes()[:5]) == (".pdf", b"%PDF-")


def test_images_have_one_format_and_rows_another_with_the_path(db: Path, tmp_path: Path) -> None:
    words = ["figures", "refusals", "--image", "pdf", "--format", "json", "--width", "3.5"]
    (row,) = json.loads(run_analyze(*words, "--db", db, "--out", tmp_path / "f").stdout)
    assert row["path"] == str(tmp_path / "f" / "refusals-simulated-base.pdf")
    assert Path(row["path"]).is_file()


@pytest.mark.parametrize("width", ["0", "abc", "4000", "nan"])
def test_a_width_that_no_figure_can_have_is_one_sentence(db: Path, tmp_path: Path, width: str) -> None:
    result = run_analyze("figures", "--width", width, "--db", db, "--out", tmp_path / "f")
    said = f'Can\'t draw figures with the width "{width}": it must be a number of inches from 1 to 50.'
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
    with pytest.raises(UsageError, match="width must be a number"):
        analysis.figures(db, out=tmp_path / "f", width=width)  # type: ignore[arg-type]
    assert not (tmp_path / "f").exists()


def test_an_unknown_format_is_one_sentence(db: Path) -> None:
    result = run_analyze("figures", "--image", "tiff", "--db", db)
    assert (result.exit_code, 'no image format "tiff"' in result.stderr) == (2, True), result.output
