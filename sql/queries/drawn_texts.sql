-- The texts of the study $study that a sample has drawn, with the number of the last sample of all.
SELECT item, (SELECT max(sample_no) FROM text_samples WHERE study = $study) AS last_no
FROM text_samples
WHERE study = $study AND is_drawn
GROUP BY item
