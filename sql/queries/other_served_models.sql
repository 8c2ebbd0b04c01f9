-- By model and the other model that answered for it: how many trials, the first and the last of them, how many are left out.
SELECT study, model, requested_model, served_model, count(*) AS n_trials, min(done_at) AS first_done_at,
       max(done_at) AS last_done_at, count(*) FILTER (is_left_out) AS n_left_out
FROM all_trials
WHERE served_model_differs AND source = 'collected' AND ($study IS NULL OR study = $study)
GROUP BY study, model, requested_model, served_model
ORDER BY study, model, first_done_at, served_model
