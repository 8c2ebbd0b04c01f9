-- The attempts that a lake lacks (`exported` says how far it is).
CREATE OR REPLACE TEMP VIEW not_exported AS
SELECT a.*
FROM attempts a
LEFT JOIN exported e ON e.run_id = a.run_id AND e.study = a.study AND e.variant = a.variant AND e.model = a.model
WHERE a.sequence > coalesce(e.last_sequence, -1)
