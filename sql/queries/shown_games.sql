-- The games among the trials `chosen`: how many rounds and other questions each has, and how it ended.
SELECT source, study, study_version, variant, model, game, min(repetition) AS repetition,
       count(*) FILTER (round IS NOT NULL) AS n_rounds, count(*) FILTER (round IS NULL) AS n_others,
       count(*) FILTER (outcome = 'answered') AS n_answered, min(outcome) FILTER (outcome <> 'answered') AS ended_as,
       sum(tokens)::BIGINT AS tokens
FROM chosen
WHERE game IS NOT NULL
GROUP BY ALL
