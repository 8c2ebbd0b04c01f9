-- compared_fits: the kept fits that a comparison takes: of today's rows, settings and code.
-- grain: call_id
-- note:  a comparison names them in the variable `compared_calls`; without it they are all fits that are kept.
CREATE OR REPLACE VIEW compared_fits AS
SELECT *
FROM fits
WHERE getvariable('compared_calls') IS NULL OR list_contains(getvariable('compared_calls')::VARCHAR[], call_id);
