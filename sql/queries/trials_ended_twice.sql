-- How many trials were ended more than once and count so often, and of how many only the first answer counts.
SELECT count(*) FILTER (n_counted > 1) AS doubled, count(*) FILTER (n_counted = 1) AS repeated FROM duplicate_finals
