-- How many codes of people to the study $study are of other versions of the codebook, or of a text, than those shown.
SELECT a.study_version, count(DISTINCT a.trial_id) AS n
FROM attempts a
WHERE a.study = $study AND a.is_final AND a.source = 'human'
  AND NOT EXISTS (FROM all_trials t WHERE t.study = $study AND t.attempt_id = a.attempt_id)
GROUP BY a.study_version
ORDER BY n DESC
