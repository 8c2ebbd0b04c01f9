-- The attempts of a study that are final because their provider rejected them.
SELECT * FROM attempts WHERE study = $study AND outcome = 'rejected' AND is_final ORDER BY attempt_id
