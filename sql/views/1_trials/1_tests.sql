-- tests: the tests of each study, as its runs list them.
-- grain: study, study_version, test
-- reads: runs
-- study: any
-- note:  where runs disagree the latest one wins. `planned` counts the trials of that test in one model.
--        Cast, not from_json(): R's duckdb comes without the json extension. So every key that a run writes is named.
CREATE OR REPLACE VIEW tests AS
WITH listed AS (
    SELECT study, study_version, started_at, run_id,
           try_cast(tests::TEXT AS STRUCT(test TEXT, test_no INTEGER, label TEXT, planned BIGINT)[]) AS list
    FROM runs
), single AS (
    SELECT study, study_version, started_at, run_id,
           unnest(list) AS entry, generate_subscripts(list, 1) AS place
    FROM listed
)
SELECT study, study_version,
       entry.test AS test,
       coalesce(entry.test_no, place)::INTEGER AS test_no,
       coalesce(entry.label, entry.test) AS label,
       entry.planned AS planned
FROM single
WHERE entry.test IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY study, study_version, entry.test ORDER BY started_at DESC, run_id DESC, place
) = 1
ORDER BY study, study_version, test_no, test;
