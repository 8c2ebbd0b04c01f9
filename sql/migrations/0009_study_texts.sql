-- The study itself: what was asked is in the database, so that no file is needed to go on with it.

-- One file of one text of a study a row; `file_no` 1 is its TOML, the others are the CSVs that it reads. A version may
-- have several texts, which differ in nothing that is asked (a label, a fit): the one that was kept last stands.
CREATE TABLE study_files (
    study TEXT, study_version TEXT, text_id TEXT, file_no INTEGER, file TEXT, text TEXT, kept_at TIMESTAMP
);

-- What a version is made of: a short hash for each kind of trial that shares what its prompts are made of. A trial
-- belongs to every version that has its `content`, so that an edit elsewhere in the study does not part it from the rest.
CREATE TABLE study_contents (study TEXT, study_version TEXT, content TEXT, kept_at TIMESTAMP);

ALTER TABLE attempts ADD COLUMN content TEXT;
