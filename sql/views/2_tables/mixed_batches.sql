-- mixed_batches: tests of a model whose answers came partly live and partly through batch jobs.
-- grain: source, study, study_version, variant, model, provider, test
-- order: source, study, study_version, variant, model, provider, test
-- note:  a provider may serve the two differently, so `collect` mixes them only if --mixed says so. No row is good.
CREATE OR REPLACE VIEW mixed_batches AS
SELECT source, study, study_version, variant, model, provider, test,
       count(*) FILTER (NOT is_batch) AS n_live,
       count(*) FILTER (is_batch) AS n_batch
FROM trials
GROUP BY source, study, study_version, variant, model, provider, test
HAVING n_live > 0 AND n_batch > 0;
