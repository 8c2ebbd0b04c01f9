-- Of each game among the trials `chosen` those before and behind it, in the order of the list of games (shown_games).
WITH games AS (
    SELECT source, study, study_version, variant, model, game, min(repetition) AS repetition,
           CASE WHEN min(item) = max(item) THEN min(test) END AS test,
           CASE WHEN min(item) = max(item) THEN min(item) END AS item,
           CASE WHEN min(item) = max(item) THEN min(condition) END AS condition
    FROM chosen
    WHERE game IS NOT NULL
    GROUP BY ALL
)
SELECT game, lag(game) OVER listed AS before, lead(game) OVER listed AS behind
FROM games
WINDOW listed AS (
    ORDER BY study, source, study_version, variant, model, repetition, test, item, condition, game
)
