"""Files are opened, written, moved and deleted through collector/system/files.py: what lies in a folder of somebody's
may be a link, a pipe or a device with the name of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support import ROOT

CODE = sorted([*ROOT.glob("collector/**/*.py"), *ROOT.glob("analysis/**/*.py")])
OF_MODULES = {
    "os": {"open", "unlink", "remove", "rename", "replace", "link", "symlink", "truncate", "rmdir", "removedirs"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move", "rmtree"},
    "gzip": {"open"},
    "tempfile": {"mkstemp"},
}
OF_PATHS = {
    "open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "touch", "symlink_to", "hardlink_to",
    "rmdir", "rename", "replace",
}  # fmt: skip
ALONE = {"open", "ZipFile", "ZstdFile"}
SHIPPED = "reads files that ship with slant"
EXCEPTIONS = {
    "collector/system/files.py": "is the door",
    "collector/system/operating_system.py": "is below the door: locks and whole folders",
    "collector/system/scratch.py": "is next to the door: it locks folders of its own, and removes them",
    "collector/system/public_names.py": "reads the file of the package that is being imported",
    "collector/system/child_processes.py": "reads what this process has loaded, in /proc",
    "collector/terminal.py": "opens /dev/null in place of a closed stream",
    "collector/run/shard_process.py": "opens /dev/null in place of a closed stream",
    "collector/keep/database_errors.py": "gives a database a second name, in a folder that is new",
    "collector/keep/database.py": "copies a database that it has opened into a folder that is new",
    "analysis/archive/layout.py": "packs into a folder that is new, and reads members of what the door has opened",
    "analysis/plots/drawing.py": "removes a folder that it has just made, if it is empty",
    "analysis/calls/executors.py": "makes the file of a lock in the system's folder for that",
    **dict.fromkeys(
        (f"collector/importing/{name}.py" for name in (
            "files/text_rows", "files/kinds", "files/packed",
            "files/table_file", "files/workbooks", "people/whole_files",
        )),
        "reads what the user named, once it is known to be a file (TableFiles), and unpacks into a folder that is new",
    ),
    **dict.fromkeys(
        (
            "collector/designs/pairing/published_lists.py", "collector/importing/renamed.py",
            "collector/keep/schema.py", "collector/keep/view_heads.py", "collector/provenance/checklist.py",
            "collector/studies/new_study.py", "collector/timeline/timeline.py", "collector/system/shipped_files.py",
            "collector/view/trial_filter.py", "analysis/bridge/r_packages.py",
            "analysis/questions/checks/check_table.py", "analysis/rows/views.py",
        ),
        SHIPPED,
    ),
    "analysis/bridge/r_home.py": "reads what belongs to R, and the profiles of R that the user has",
}  # fmt: skip


def touches(code: str) -> Iterator[tuple[int, str]]:
    """(line, call) of what opens, writes, moves or deletes files."""
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        owner, _, last = name.rpartition(".")
        if not owner:
            found = name in ALONE
        elif owner in OF_MODULES:
            found = last in OF_MODULES[owner]
        elif last in ("rename", "replace"):  # of texts it takes two arguments; of frames a mapping, by its name
            found = len(node.args) == 1 and not node.keywords and not _is_of_frames(node)
        else:
            found = last in OF_PATHS or last == "ZipFile"
        if found and name != "webbrowser.open":
            yield node.lineno, name


def _is_of_frames(node: ast.Call) -> bool:
    assert isinstance(node.func, ast.Attribute)
    text = ast.unparse(node.func.value)
    given = node.args[0]
    is_mapping = isinstance(given, (ast.Dict, ast.DictComp)) or ast.unparse(given).startswith(("dict(", "labels"))
    is_constant = isinstance(given, ast.Name) and given.id.isupper()
    return is_mapping or is_constant or "pl.col(" in text or text.endswith(".trials")


@pytest.mark.parametrize("half", ["collector", "analysis"])
def test_files_are_touched_through_the_door(half: str) -> None:
    files = [file for file in CODE if file.is_relative_to(ROOT / half)]
    found = [
        f"{name}:{line}: {call}"
        for file in files
        if (name := file.relative_to(ROOT).as_posix()) not in EXCEPTIONS
        for line, call in touches(file.read_text("utf-8"))
    ]
    assert found == [], "collector/system/files.py has what does the same without following a link"


def test_each_exception_is_one() -> None:
    assert [name for name in EXCEPTIONS if not list(touches((ROOT / name).read_text("utf-8")))] == []


@pytest.mark.parametrize(
    "code",
    ["open('x')", "Path('x').write_text('')", "os.unlink(x)", "part.replace(path)", "shutil.rmtree(x)", "p.open('rb')"],
)
def test_what_goes_round_the_door_is_seen(code: str) -> None:
    assert list(touches(code))


@pytest.mark.parametrize("code", ["text.replace('a', 'b')", "frame.rename({'a': 'b'})", "files.opened(path)"])
def test_what_touches_no_file_is_let_be(code: str) -> None:
    assert not list(touches(code))
