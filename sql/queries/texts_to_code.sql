-- The texts of the study $study, variant $variant, that can be coded: its $kind (answers, reasoning, refusals), those of
-- one $test or of all. `prompt` says which of them answer the same.
SELECT trial_id AS item, CASE WHEN $kind = 'reasoning' THEN reasoning_text ELSE answer END AS text, test, model,
       condition, nullif("group", '') AS "group", item AS prompt
FROM trials
WHERE study = $study AND variant = $variant AND source <> 'human' AND ($test IS NULL OR test = $test)
  AND CASE $kind WHEN 'refusals' THEN outcome = 'refused' ELSE outcome IN ('answered', 'malformed', 'refused') END
  AND trim(CASE WHEN $kind = 'reasoning' THEN reasoning_text ELSE answer END) <> ''
ORDER BY test, trial_id
