-- run_pace_by_test: how fast each run asked each model the trials of each test.
-- grain: source, study, study_version, variant, run_id, model, test
-- order: source, study, study_version, variant, run_id, model, test
-- note:  `rate_per_s` counts the answers of the model's last minute up to its latest one, as in run_pace: the rates of a
--        model's tests add up to the model's own. 0 if that minute held none of the test.
CREATE OR REPLACE VIEW run_pace_by_test AS
WITH asked AS (
    SELECT source, study, study_version, variant, run_id, model, test, http_status, is_final, done_at,
           min(queued_at) OVER model AS first_queued_at,
           max(done_at) FILTER (is_final) OVER model AS last_done_at
    FROM attempts
    WHERE batch_id IS NULL AND source IN ('collected', 'simulated')
    WINDOW model AS (PARTITION BY source, study, study_version, variant, run_id, model)
)
SELECT source, study, study_version, variant, run_id, model, test,
       count(*) AS n_attempts,
       count(*) FILTER (is_final AND done_at > last_done_at - INTERVAL 60 SECOND)
           / greatest(least(60, epoch(any_value(last_done_at) - any_value(first_queued_at))), 0.001) AS rate_per_s,
       count(*) FILTER (http_status = 429) AS n_rate_limited,
       max(done_at) FILTER (is_final) AS last_done_at
FROM asked
GROUP BY source, study, study_version, variant, run_id, model, test;
