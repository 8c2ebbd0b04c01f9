-- The attempts that journals hold and the database lacks (the rows `journal_rows`), in the columns of its own table, whose
-- whole name is put in here; and a view of both that takes the place of the table.
CREATE TEMP TABLE waiting_attempts AS FROM stored_attempts LIMIT 0;
INSERT INTO waiting_attempts BY NAME FROM journal_rows;
CREATE TEMP VIEW attempts AS FROM stored_attempts UNION ALL BY NAME FROM waiting_attempts
