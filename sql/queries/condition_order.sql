-- The conditions of the study $study, in its order.
SELECT condition FROM conditions WHERE study = $study GROUP BY condition ORDER BY min(condition_no), condition
