-- Requests of a model that ended without an answer and with an error that may have declined them, before this call.
SELECT trial_id, http_status, response, done_at
FROM attempts
WHERE study = $study AND provider = $provider AND requested_model = $requested_model
  AND outcome = 'failed' AND http_status IN (200, 400, 403, 413, 422) AND done_at < $before::TIMESTAMP
ORDER BY done_at, attempt_id
