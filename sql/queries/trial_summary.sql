-- Of the trials `chosen`: how many ended how in each condition of each source, with which count of tokens (rounded down
-- above 2,000).
SELECT source, study, condition, outcome, CASE WHEN tokens < 2000 THEN tokens ELSE tokens // 50 * 50 END AS tokens_from,
       count(*) AS n
FROM chosen
GROUP BY ALL
