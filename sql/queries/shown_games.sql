-- The games among the trials `chosen`: how many rounds and other questions each has, and how it ended; of a conversation
-- about one item also which one that is, and what was chosen last.
SELECT source, study, study_version, variant, model, game, min(repetition) AS repetition,
       CASE WHEN min(item) = max(item) THEN min(test) END AS test,
       CASE WHEN min(item) = max(item) THEN min(item) END AS item,
       CASE WHEN min(item) = max(item) THEN min(condition) END AS condition,
       CASE WHEN min(item) = max(item) THEN arg_max(choice, round) END AS choice,
       count(*) FILTER (round IS NOT NULL) AS n_rounds, count(*) FILTER (round IS NULL) AS n_others,
       count(*) FILTER (outcome = 'answered') AS n_answered, min(outcome) FILTER (outcome <> 'answered') AS ended_as,
       sum(tokens)::BIGINT AS tokens
FROM chosen
WHERE game IS NOT NULL
GROUP BY ALL
