-- What a study is like, beside each of its runs: its design, and the order and labels of its conditions.

ALTER TABLE runs ADD COLUMN design TEXT;
-- The categories of a test's words, in the study's order (JSON); NULL where it has none.
ALTER TABLE run_tests ADD COLUMN groups TEXT;

-- How many rows a fit left out, by the flag that said so: "is_refusal: 4". NULL where it has no flags.
ALTER TABLE fits ADD COLUMN dropped TEXT;

-- Conditions of a study in its order: blocks of a forced choice, classes of a game. The first is the reference level.
CREATE TABLE run_conditions (run_id TEXT, place INTEGER, condition TEXT, condition_no INTEGER, label TEXT);
