-- The answers of the study $study, variant $variant, from $sources that a model is to code: all that are undecided, and
-- $n_decided of each model that are not, for agreement: the same at each call, whatever was added since.
FROM codable_answers
WHERE study = $study AND variant = $variant AND list_contains($sources, source)
QUALIFY first_coding IS NULL
        OR row_number() OVER (PARTITION BY model, first_coding IS NULL ORDER BY md5(trial_id), trial_id) <= $n_decided
ORDER BY test, trial_id
