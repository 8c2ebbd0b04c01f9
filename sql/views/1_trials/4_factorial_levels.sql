-- factorial_levels: one attribute of one profile, with what was answered about the profile, a row, unordered.
-- grain: trial_id, question, position, attribute
-- design: factorial
-- note:  the long form of factorial_profiles: attributes are the factors of the study, what its files say of their levels
--        (a name's gender), and what is so of the persona; and the template, with the persona where there is one.
CREATE OR REPLACE VIEW factorial_levels AS
WITH placed AS (
    -- places are unnested, not names, levels and shares: what a table does not read then costs nothing
    SELECT *, unnest(range(1, coalesce(len(names), 0) + CASE WHEN persona IS NULL THEN 2 ELSE 3 END)) AS place
    FROM factorial_profile_rows
)
SELECT * EXCLUDE (names, levels, shares, place),
       CASE place - coalesce(len(names), 0)
            WHEN 1 THEN 'template' WHEN 2 THEN 'persona' ELSE names[place] END AS attribute,
       CASE place - coalesce(len(names), 0)
            WHEN 1 THEN template WHEN 2 THEN persona ELSE levels[place] END AS level,
       try_cast(shares[place] AS DOUBLE) AS share
FROM placed
WHERE place > coalesce(len(names), 0) OR levels[place] <> '';  -- a nested factor that the profile lacks
