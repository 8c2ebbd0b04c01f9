-- Databases that were brought together (`collect merge`).

-- The runs of one collector, one a row; `source` is the name of its database. A run that goes on with another's games
-- has its lineage, too, so that a run may have several; one that was made here after the merge has none.
CREATE TABLE merged_runs (lineage TEXT, source TEXT, run_id TEXT, merged_at TIMESTAMP);

-- True of attempts that are kept, but not counted: another collector had asked the same conversation, too, and ended it
-- first; else NULL. A column, for a join takes four times as long as reading the trials.
ALTER TABLE attempts ADD COLUMN is_repeated BOOLEAN;
