-- How unsure models are of each text of the study $study: the share of their codings that differ from its most frequent.
SELECT item, 1 - max(n) / sum(n) AS unsure
FROM (
    SELECT item, coding, count(DISTINCT (source, coder, repetition)) AS n
    FROM codings
    WHERE study = $study AND NOT is_person AND given IS NOT NULL
    GROUP BY item, coding
)
GROUP BY item
