-- allocation_counts: how often each group was chosen for each class of jobs in each game, unordered; no row is a zero.
-- grain: source, study, study_version, variant, model, game, class, group
-- design: allocation
-- note:  all indices are computed from these counts; allocation_matrices shows them with their zeros.
CREATE OR REPLACE VIEW allocation_counts AS
SELECT source, study, study_version, variant, model, game, class, choice AS "group", count(*) AS n
FROM allocation_round_rows
WHERE choice IS NOT NULL
GROUP BY source, study, study_version, variant, model, game, class, choice;
