-- One request of each model, test and condition in these runs, the first one of the plan: what was sent, as it was sent.
SELECT model, test, condition, arg_min(request, (position, sent_at, attempt_id)) AS request
FROM shown_attempts
WHERE list_contains($runs, run_id) AND is_final AND request IS NOT NULL AND coalesce(turn, 1) = 1
GROUP BY model, test, condition
ORDER BY min(position), model, test, condition
