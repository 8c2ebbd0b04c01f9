"""No study's name, and no name of one of its conditions, decides anything outside of its paper and its own files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from slant.collector.designs import design_names
from slant.collector.studies.catalogue import list_studies, load_study
from slant.collector.system.shipped_files import sql_dir
from tests.support import ROOT
from tests.support.each_row import each_row

NAMES = set(list_studies()) - set(design_names())  # a study may be called as its design is
CONDITIONS = {
    one.condition
    for name in list_studies()
    if (study := load_study(name)).design.name != "allocation"
    for one in study.conditions
}
CODE = [
    file
    for folder in ("analysis", "collector")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "paper" not in file.parts and "studies" not in file.parts and file.parent.name != "layouts"
]


def decided_by(tree: ast.AST) -> Iterator[ast.expr]:
    """All that is compared, looked up, or the default of an argument or option."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.Dict):
            yield from (key for key in node.keys if key is not None)
        elif isinstance(node, ast.arguments):
            yield from (one for one in (*node.defaults, *node.kw_defaults) if one is not None)
        elif (isinstance(node, ast.keyword) and node.arg == "default") or isinstance(node, ast.MatchValue):
            yield node.value
        elif isinstance(node, ast.Call):
            yield from (one for one in node.args if isinstance(one, ast.Constant))


def texts(node: ast.expr) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


@each_row("file", CODE)
def test_nothing_in_python_is_decided_by_a_studys_name(file: Path) -> None:
    found = [
        text
        for node in decided_by(ast.parse(file.read_text("utf-8")))
        for text in texts(node)
        if text in NAMES | CONDITIONS
    ]
    assert found == []


@each_row("file", sorted((sql_dir() / "views").rglob("*.sql")))
def test_no_view_names_a_study_or_its_conditions(file: Path) -> None:
    code = "\n".join(line for line in file.read_text("utf-8").splitlines() if not line.startswith("--"))
    words = set(re.findall(r"\w+", code)) - {"ultimatum"}
    assert words & (NAMES | CONDITIONS) == set()


def test_r_compares_nothing_with_a_studys_name() -> None:
    for file in sorted((ROOT / "R").glob("*.R")):
        code = "\n".join(line for line in file.read_text("utf-8").splitlines() if not line.lstrip().startswith("#"))
        compared = re.findall(r'(?:==|!=|%in%)\s*(?:c\()?"(\w+)"', code)
        assert not set(compared) & NAMES, file.name
