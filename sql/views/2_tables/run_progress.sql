-- run_progress: how far each run has come with each test of each model.
-- grain: run_id, study_version, model, test
-- note:  going on with a stopped run is a new run: `n_done` counts this run's own trials, `n_done_before` those that
--        earlier runs with the same study, variant, seed, model and settings had kept (and with structured output or
--        without it, as this one). `n_not_asked` are trials of games that ended early: they will never be asked, so that
--        they are not missing. Trials of a run that belong to a newer version, too, are a row of that version, without a
--        plan of the run's; nor have rows of files. What was asked again (`collect --again`) is in retest_occasions.
--        `n_unpriced` answers have no known cost; `cost_usd` is NULL if none has.
CREATE OR REPLACE VIEW run_progress AS
WITH planned AS (
    SELECT m.run_id, r.study_version, m.model, m.provider, m.requested_model, m.settings AS model_settings, m.place AS model_place,
           t.test, t.test_no, CASE WHEN coalesce(r.source, '') NOT IN ('human', 'imported') THEN t.planned END AS n_planned
    FROM run_models m
    JOIN run_tests t ON t.run_id = m.run_id
    LEFT JOIN runs r ON r.run_id = m.run_id
    WHERE m.occasion IS NULL
), counted AS (
    SELECT run_id, study_version, model, test,
           count(*) FILTER (is_final) AS n_done,
           count(*) FILTER (is_final AND outcome = 'answered') AS n_answered,
           count(*) FILTER (is_final AND outcome = 'refused') AS n_refused,
           count(*) FILTER (is_final AND outcome = 'filtered') AS n_filtered,
           count(*) FILTER (is_final AND outcome = 'truncated') AS n_truncated,
           count(*) FILTER (is_final AND outcome = 'malformed') AS n_malformed,
           count(*) FILTER (is_final AND outcome = 'rejected') AS n_rejected,
           count(*) FILTER (outcome = 'failed') AS n_failed_attempts,
           count(*) FILTER (is_unpriced) AS n_unpriced, sum(cost_usd) AS cost_usd
    FROM shown_attempts
    WHERE occasion IS NULL
    GROUP BY run_id, study_version, model, test
), ended AS (
    SELECT run_id, study_version, model, map_extract(factor_lists, 'not_asked')[1][1] AS not_asked
    FROM shown_attempts
    WHERE is_final AND occasion IS NULL AND map_extract(factor_lists, 'not_asked')[1] IS NOT NULL
), never_asked AS (
    SELECT t.run_id, e.study_version, e.model, t.test,
           sum(try_cast(regexp_extract(e.not_asked, concat('"', t.test, '":([0-9]+)'), 1) AS BIGINT)) AS n_not_asked
    FROM ended e
    JOIN run_tests t ON t.run_id = e.run_id
    GROUP BY t.run_id, e.study_version, e.model, t.test
), joined AS (
    -- FULL: trials that their run did not list are shown too, without a plan
    SELECT coalesce(p.run_id, c.run_id) AS run_id,
           coalesce(p.study_version, c.study_version) AS study_version,
           coalesce(p.model, c.model) AS model, coalesce(p.test, c.test) AS test, p.test_no, p.n_planned,
           p.provider, p.requested_model, p.model_settings, p.model_place,
           coalesce(c.n_done, 0) AS n_done, coalesce(c.n_answered, 0) AS n_answered,
           coalesce(c.n_refused, 0) AS n_refused, coalesce(c.n_filtered, 0) AS n_filtered,
           coalesce(c.n_truncated, 0) AS n_truncated, coalesce(c.n_malformed, 0) AS n_malformed,
           coalesce(c.n_rejected, 0) AS n_rejected, coalesce(c.n_failed_attempts, 0) AS n_failed_attempts, coalesce(n.n_not_asked, 0)::BIGINT AS n_not_asked,
           coalesce(c.n_unpriced, 0) AS n_unpriced, c.cost_usd
    FROM planned p
    FULL JOIN counted c ON c.run_id = p.run_id AND c.study_version IS NOT DISTINCT FROM p.study_version
        AND c.model = p.model AND c.test = p.test
    LEFT JOIN never_asked n ON n.run_id = coalesce(p.run_id, c.run_id)
        AND n.study_version IS NOT DISTINCT FROM coalesce(p.study_version, c.study_version)
        AND n.model = coalesce(p.model, c.model) AND n.test = coalesce(p.test, c.test)
), placed AS (
    SELECT r.source, r.study, r.variant, j.*, r.started_at, r.finished_at, r.end_reason,
           coalesce(sum(n_done) OVER earlier, 0)::BIGINT AS n_done_before,
           coalesce(sum(n_not_asked) OVER earlier, 0)::BIGINT AS n_not_asked_before
    FROM joined j
    LEFT JOIN runs r ON r.run_id = j.run_id
    WINDOW earlier AS (
        PARTITION BY r.source, r.study, j.study_version, r.variant, r.seed,
            j.model, j.provider, j.requested_model, j.model_settings, j.test,
            contains(coalesce(r.settings, ''), '"structured_output": true')
        ORDER BY r.started_at, j.run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT source, study, study_version, variant, run_id, model, test,
       n_planned, n_done, n_done_before,
       CASE WHEN n_planned IS NOT NULL
            THEN greatest(n_planned - n_done - n_done_before - n_not_asked - n_not_asked_before, 0) END AS n_missing,
       n_not_asked, n_answered, n_refused, n_filtered, n_truncated, n_malformed, n_rejected, n_failed_attempts,
       n_unpriced, cost_usd, started_at, finished_at, end_reason
FROM placed
ORDER BY started_at, run_id, model_place, model, test_no, test, study_version;
