-- factorial_balance: how often each level of each attribute was shown, next to its share under the design.
-- grain: sorted by source, study, study_version, variant, model, attribute, level
-- design: factorial
-- note:  `n_drawn` are the profiles that were drawn, each once, however many templates, personas, questions and
--        repetitions showed it; `n` are all that were shown, answered or not. `expected_share` is exact, also with
--        forbidden combinations. `residual` is standardised: (n_drawn - expected) over its standard error under random
--        draws; `chi_squared` is over the levels that were shown, with `df`. Chance makes differences: they are
--        reported, and nothing is drawn again for them.
CREATE OR REPLACE VIEW factorial_balance AS
WITH placed AS (
    -- numbers in the place of names: there are as many rows as profiles, and lists are slow to group by
    SELECT source, study, study_version, variant, model, names[1 : n_drawn] AS names, levels[1 : n_drawn] AS levels,
           shares[1 : n_drawn] AS shares, hash(trial_id, question) AS row_no,
           hash(source, study, study_version, variant, model, task, position) AS shown_no,
           hash(source, study, study_version, variant, model, item, position,
                names[1 : n_drawn], levels[1 : n_drawn]) AS draw_no
    FROM factorial_profile_rows
), once AS (
    -- one row for each profile of a task, however many questions were asked about it
    SELECT *
    FROM placed
    SEMI JOIN (SELECT shown_no, min(row_no) AS row_no FROM placed GROUP BY shown_no) USING (shown_no, row_no)
), drawn AS (
    SELECT draw_no, min(shown_no) AS shown_no, true AS is_drawn
    FROM once
    GROUP BY draw_no
), listed AS (
    SELECT source, study, study_version, variant, model, is_drawn,
           unnest(names) AS attribute, unnest(levels) AS level, unnest(shares) AS share
    FROM once
    LEFT JOIN drawn USING (draw_no, shown_no)
), counted AS (
    SELECT source, study, study_version, variant, model, attribute, level, count(*) AS n, count(is_drawn) AS n_drawn,
           try_cast(any_value(share) AS DOUBLE) AS expected_share
    FROM listed
    WHERE level <> ''
    GROUP BY ALL
), compared AS (
    SELECT *, sum(n_drawn) OVER every_level AS n_all, count(*) OVER every_level - 1 AS df
    FROM counted
    WINDOW every_level AS (PARTITION BY source, study, study_version, variant, model, attribute)
)
SELECT c.* EXCLUDE (n_all, df), n_drawn / n_all AS share,
       (n_drawn - n_all * expected_share) / nullif(sqrt(n_all * expected_share * (1 - expected_share)), 0) AS residual,
       round(sum((n_drawn - n_all * expected_share) ** 2 / nullif(n_all * expected_share, 0)) OVER (
           PARTITION BY c.source, c.study, c.study_version, c.variant, c.model, attribute), 9) AS chi_squared,
       df
FROM compared c;
