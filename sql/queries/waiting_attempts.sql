-- The attempts that journals hold and the database lacks (the rows of `typed_rows`, a query that is put in here), in the
-- columns of its own table, whose whole name is put in, too; and a view of both that takes the place of the table.
CREATE TEMP TABLE waiting_attempts AS FROM stored_attempts LIMIT 0;
INSERT INTO waiting_attempts BY NAME typed_rows;
CREATE TEMP VIEW attempts AS FROM stored_attempts UNION ALL BY NAME FROM waiting_attempts
