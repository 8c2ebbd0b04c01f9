"""What a stranger may have done to a database file, as SQL that was typed into it, and what becomes of it.

`becomes` is "rebuilt" where slant makes its views again and shows the true rows, else a piece of the sentence that
refuses the file. SECRET stands for the path of a file that nobody handed over.
"""

from __future__ import annotations

from dataclasses import dataclass

REBUILT = "rebuilt"


@dataclass(frozen=True)
class TamperedDatabase:
    name: str
    sql: str
    becomes: str


TAMPERED = (
    TamperedDatabase("a view reads a file", "CREATE OR REPLACE VIEW trials AS FROM read_csv('SECRET')", REBUILT),
    TamperedDatabase(
        "a view under all others reads a file",
        "CREATE OR REPLACE VIEW shown_attempts AS SELECT a.* REPLACE (t.content AS answer) "
        "FROM attempts a, read_text('SECRET') t",
        REBUILT,
    ),
    TamperedDatabase(
        "a view hides every other row",
        "CREATE OR REPLACE VIEW run_versions AS SELECT run_id, study, study_version, true AS is_own, started_at "
        "FROM runs WHERE false",
        REBUILT,
    ),
    TamperedDatabase("a view is gone", "DROP VIEW trials", REBUILT),
    TamperedDatabase("a view never ends", "CREATE OR REPLACE VIEW models AS FROM range(10000000000000)", REBUILT),
    TamperedDatabase("a macro stands for a function", "CREATE MACRO sum(x) AS 42", "holds the macro sum"),
    TamperedDatabase("a macro stands for an operator", "CREATE MACRO coalesce(a, b) AS 'x'", "the macro coalesce"),
    TamperedDatabase(
        "a macro reads a file",
        "CREATE MACRO list_contains(a, b) AS (SELECT content FROM read_text('SECRET')) = ''",
        "holds the macro list_contains",
    ),
    TamperedDatabase(
        "a macro stands for the list of tables",
        "CREATE MACRO duckdb_tables() AS TABLE SELECT 'slant' AS table_name, 'a' AS database_name, false AS internal",
        "holds the macro duckdb_tables",
    ),
    TamperedDatabase(
        "a macro hides macros",
        "CREATE MACRO duckdb_functions() AS TABLE SELECT 'f' AS function_name, 'a' AS database_name, true AS internal",
        "holds the macro duckdb_functions",
    ),
    TamperedDatabase(
        "a trigger copies a file into the answers",
        "CREATE TRIGGER t AFTER INSERT ON attempts INSERT INTO slant SELECT 'x', content FROM read_text('SECRET')",
        "holds the trigger t",
    ),
    TamperedDatabase(
        "answers are a view",
        "DROP TABLE attempts CASCADE; CREATE VIEW attempts AS FROM read_csv('SECRET')",
        '"attempts" is missing, or differs',
    ),
    TamperedDatabase(
        "a column computes itself",
        "DROP TABLE pace_history; CREATE TABLE pace_history (run_id TEXT, noted_at TIMESTAMP, model TEXT, event TEXT, "
        "request_limit INTEGER, in_flight INTEGER, wait_s DOUBLE, detail TEXT GENERATED ALWAYS AS (model || event))",
        '"pace_history" is missing, or differs',
    ),
    TamperedDatabase(
        "a column has a default", "ALTER TABLE runs ALTER seed SET DEFAULT 7", '"runs" is missing, or differs'
    ),
    TamperedDatabase(
        "a column has another type", "ALTER TABLE loads ALTER byte_offset TYPE TEXT", '"loads" is missing, or differs'
    ),
    TamperedDatabase("a table is gone", "DROP TABLE brms_loo", '"brms_loo" is missing, or differs'),
    TamperedDatabase(
        "a table stands for a view", "DROP VIEW trials; CREATE TABLE trials AS SELECT 1 AS x", '"trials" is missing, or'
    ),
    TamperedDatabase("it says nothing of its schema", "DELETE FROM slant", '"slant" is missing, or differs'),
    TamperedDatabase(
        "its schema is no number",
        "UPDATE slant SET value = 'x' WHERE name = 'schema'",
        '"slant" is missing, or',
    ),
    TamperedDatabase(
        "its schema is of a time to come",
        "UPDATE slant SET value = '99' WHERE name = 'schema'",
        "by a newer slant",
    ),
    TamperedDatabase(
        "its own table has other columns",
        "DROP TABLE slant; CREATE TABLE slant (a TEXT)",
        '"slant" is missing, or differs',
    ),
)
