-- Models whose answers have token counts of several kinds, or counts of the provider's that contradict each other.
SELECT study, model,
       map_from_entries(list_sort(list({'k': token_source, 'v': n_counted}) FILTER (n_counted > 0))) AS kinds,
       sum(n)::BIGINT AS n_answers, sum(n_conflicts)::BIGINT AS n_conflicts, min(a_conflict) AS a_conflict
FROM (
    SELECT study, study_version, variant, model, token_source, count(*) AS n, count(tokens) AS n_counted,
           count(count_conflict) AS n_conflicts, min(count_conflict) AS a_conflict
    FROM shown_attempts
    WHERE is_final AND source IN ('collected', 'imported')
    GROUP BY ALL
)
GROUP BY study, study_version, variant, model
HAVING count(*) FILTER (n_counted > 0) > 1 OR sum(n_conflicts) > 0
ORDER BY ALL
