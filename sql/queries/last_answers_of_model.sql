-- When a model answered last, for each of the settings that it was asked with (JSON).
SELECT m.settings, max(a.done_at) AS last_answer_at
FROM attempts a
JOIN run_models m ON m.run_id = a.run_id AND m.model = a.model
WHERE a.source IN ('collected', 'simulated') AND a.provider = $provider AND a.requested_model = $requested_model
  AND a.http_status = 200 AND a.outcome IN ('answered', 'refused', 'truncated', 'malformed')
GROUP BY m.settings
ORDER BY m.settings
