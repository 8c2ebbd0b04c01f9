"""Fixtures that all tests share: where the authors' data lie, and a database made here."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the checkout, with the authors' raw data; absent on most machines."""
    folder = ROOT.parent / "shared"
    if not (folder / "data" / "rmiat").is_dir():
        pytest.skip("the authors' raw data (../shared/data/rmiat) are not on this machine")
    return folder
