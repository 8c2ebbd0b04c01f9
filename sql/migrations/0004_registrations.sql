-- Registrations (`collect preregister`): what was fixed before the data, and what of it slant can see.

-- The text of a registration that a run was begun with, once each; its SHA-256 is of these bytes (UTF-8).
CREATE TABLE registrations (sha256 TEXT, study TEXT, text TEXT, kept_at TIMESTAMP);

-- The SHA-256 of the registration that a run was given; NULL without one.
ALTER TABLE runs ADD COLUMN registration TEXT;

-- One look at the results a row: a number of trials of a cell for which an analysis was made the first time. Results in
-- `calls` give way to newer ones, these rows stay. model, test NULL: an analysis of several at once.
CREATE TABLE looks (
    study TEXT, source TEXT, variant TEXT, analysis TEXT, model TEXT, test TEXT, n_trials BIGINT, looked_at TIMESTAMP
);
