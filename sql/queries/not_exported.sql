-- The attempts that a lake lacks (`exported` has those that it holds).
CREATE OR REPLACE TEMP VIEW not_exported AS
SELECT *
FROM attempts
WHERE attempt_id NOT IN (SELECT attempt_id FROM exported WHERE attempt_id IS NOT NULL)
