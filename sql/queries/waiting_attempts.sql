-- The attempts that journals hold and the database lacks, in the columns of its own table; and a view of both that takes
-- the place of the table. The query of the rows and the whole name of the table are put in.
CREATE TEMP TABLE waiting_attempts AS FROM stored_attempts LIMIT 0;
INSERT INTO waiting_attempts BY NAME typed_rows;
CREATE TEMP VIEW attempts AS FROM stored_attempts UNION ALL BY NAME FROM waiting_attempts
