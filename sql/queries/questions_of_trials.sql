-- Of answered trials that ask several questions, by model: how many questions, and how many of them were not read.
SELECT study, model || CASE source WHEN 'collected' THEN '' ELSE concat(' (', source, ')') END AS name,
       len(outcomes) AS n_questions, len(list_filter(outcomes, lambda x: x <> 'answered')) AS n_unread,
       count(*) AS n_trials
FROM (SELECT *, map_extract(factor_lists, 'outcomes')[1] AS outcomes FROM trial_rows WHERE outcome = 'answered')
WHERE len(outcomes) > 1 AND coalesce(study = $study, true)
GROUP BY ALL
ORDER BY ALL
