-- run_pace: how fast each run asked each model, what limited it, and how long it waited.
-- grain: source, study, study_version, variant, run_id, model
-- note:  `request_limit` is how many requests may be in flight, as it was last noted; `rate_per_s` counts the answers of
--        the last minute up to the latest one; waits are of the whole model (`pause_s`) and of one request on average
--        (`mean_queue_wait_s`: from when it might have been asked until it was sent; a retry's Retry-After included).
CREATE OR REPLACE VIEW run_pace AS
WITH asked AS (
    SELECT source, study, study_version, variant, run_id, model,
           count(*) AS n_attempts,
           count(*) FILTER (http_status = 429) AS n_rate_limited,
           count(*) FILTER (http_status >= 500) AS n_server_errors,
           count(*) FILTER (http_status IS NULL) AS n_unanswered,
           avg(epoch(sent_at - queued_at)) AS mean_queue_wait_s,
           avg(epoch(done_at - sent_at)) FILTER (is_final) AS mean_latency_s,
           min(queued_at) AS first_queued_at,
           max(done_at) FILTER (is_final) AS last_done_at
    FROM attempts
    WHERE batch_id IS NULL AND source IN ('collected', 'simulated')
    GROUP BY source, study, study_version, variant, run_id, model
), recent AS (
    SELECT source, study, study_version, variant, run_id, model,
           -- the first answers of a run come after one latency: a minute that is not over is not counted as one
           count(*) / greatest(least(60, epoch(any_value(s.last_done_at) - any_value(s.first_queued_at))), 0.001)
               AS rate_per_s
    FROM attempts a
    JOIN asked s USING (source, study, study_version, variant, run_id, model)
    WHERE a.is_final AND a.batch_id IS NULL AND a.done_at > s.last_done_at - INTERVAL 60 SECOND
    GROUP BY source, study, study_version, variant, run_id, model
), moved AS (
    SELECT run_id, model,
           arg_max(request_limit, noted_at) AS request_limit,
           min(request_limit) AS least_limit,
           max(request_limit) AS most_limit,
           count(*) FILTER (event = 'rate_limited') AS n_decreases,
           sum(wait_s) FILTER (event = 'rate_limited') AS pause_s,
           sum(wait_s) FILTER (event = 'budget') AS budget_wait_s,
           max(noted_at + to_milliseconds((wait_s * 1000)::BIGINT)) FILTER (event = 'rate_limited') AS paused_until
    FROM pace_history
    GROUP BY run_id, model
)
SELECT source, study, study_version, variant, run_id, model,
       a.n_attempts, r.rate_per_s, m.request_limit, m.least_limit, m.most_limit,
       a.n_rate_limited, a.n_server_errors, a.n_unanswered, m.n_decreases, m.pause_s, m.budget_wait_s, m.paused_until,
       a.mean_queue_wait_s, a.mean_latency_s, a.last_done_at
FROM asked a
LEFT JOIN recent r USING (source, study, study_version, variant, run_id, model)
LEFT JOIN moved m USING (run_id, model)
ORDER BY a.first_queued_at, run_id, model, source, study, study_version, variant;
