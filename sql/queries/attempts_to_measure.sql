-- The answers of the study $study that a person's own functions measure.
FROM attempts WHERE study = $study AND is_final AND outcome = 'answered' ORDER BY attempt_id
