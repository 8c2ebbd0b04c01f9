-- The answers of the study $study that can be the material of another one: what each said, to which question, of which
-- model, and what it was asked about.
SELECT trial_id, test AS question, model, source, map_extract(factor_lists, 'names')[1] AS names,
       map_extract(factor_lists, 'levels')[1] AS levels,
       -- a text as it was written; what the study's form found in it
       CASE WHEN len(vs) = 1 AND trim(answer, E' \t\r\n') <> vs[1] THEN vs[1] ELSE answer END AS text
FROM (SELECT *, map_extract(factor_lists, 'values')[1] AS vs FROM trial_rows WHERE study = $study)
WHERE outcome = 'answered' AND NOT is_left_out AND source <> 'human' AND trim(coalesce(answer, '')) <> ''
ORDER BY question, model, position, trial_id
