"""The views of what papers print: one case each of given rows and the rows expected of them, as test_views.py has."""

from __future__ import annotations

from tests.support.each_row import each_row
from tests.support.view_files import OF_PAPERS, check_case


@each_row("view", OF_PAPERS)
def test_given_rows_become_the_expected_rows(view: str) -> None:
    check_case(view)
