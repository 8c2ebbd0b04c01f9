-- By model, how many trials were answered by another model than the study asked for.
SELECT model, count(*) FROM trials WHERE served_model_differs AND source = 'collected' GROUP BY model ORDER BY model
