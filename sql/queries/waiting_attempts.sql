-- The attempts that journals hold and the database lacks (the rows `journal_rows`), in the columns of `attempts`.
CREATE TEMP TABLE waiting_attempts AS FROM attempts LIMIT 0;
INSERT INTO waiting_attempts BY NAME FROM journal_rows;
