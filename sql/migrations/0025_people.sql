-- Answers of people (`collect import --layout people`). `participant` is a running number within a study, never an id of
-- the file's; NULL for models. `response_time_ms` is what the experiment measured from the stimulus to the answer,
-- `is_error` whether the wrong key was pressed first, `phase` practice or test. `consent` and `origin` of a run say what
-- people agreed to and where the data come from. `attributes` of a participant are what was asked for by name.
ALTER TABLE attempts ADD COLUMN participant INTEGER;
ALTER TABLE attempts ADD COLUMN response_time_ms DOUBLE;
ALTER TABLE attempts ADD COLUMN is_error BOOLEAN;
ALTER TABLE attempts ADD COLUMN phase TEXT;
ALTER TABLE runs ADD COLUMN consent TEXT;
ALTER TABLE runs ADD COLUMN origin TEXT;
CREATE TABLE run_participants (run_id TEXT, participant INTEGER, attributes MAP(TEXT, TEXT));
