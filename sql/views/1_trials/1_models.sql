-- models: the models of each study, as its runs list them.
-- grain: study, study_version, model
-- reads: runs
-- study: any
-- note:  where runs disagree (another label, other settings) the latest one wins. `model_no` is the place in the
--        study, which orders tables; NULL for a model that the study does not name: these come last.
--        Cast, not from_json(): R's duckdb comes without the json extension. So every key that a run writes is named.
CREATE OR REPLACE VIEW models AS
WITH listed AS (
    SELECT study, study_version, started_at, run_id,
           try_cast(models::TEXT AS STRUCT(model TEXT, label TEXT, model_no INTEGER, provider TEXT,
               requested_model TEXT, frame TEXT, measure TEXT, settings TEXT, planned BIGINT)[]) AS list
    FROM runs
), single AS (
    SELECT study, study_version, started_at, run_id,
           unnest(list) AS entry, generate_subscripts(list, 1) AS place
    FROM listed
)
SELECT study, study_version,
       entry.model AS model,
       entry.model_no AS model_no,
       coalesce(entry.label, entry.model) AS label,
       entry.provider AS provider,
       entry.requested_model AS requested_model,
       entry.frame AS frame,
       entry.measure AS measure,
       entry.planned AS planned
FROM single
WHERE entry.model IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY study, study_version, entry.model ORDER BY started_at DESC, run_id DESC, place
) = 1
ORDER BY study, study_version, model_no, model;
