-- trials: one observation a row: every attempt that ended its trial, with what can be read from it alone.
-- grain: trial_id
-- note:  of the first occasion: what `collect --again` asked later is in all_trials and retest_answers, and in no other
--        table, but after SET VARIABLE later_occasions = 'shown'; `tokens` is the measure that the study names. To see all tables with another one, in the duckdb shell:
--        SET VARIABLE measure = 'output';     (or 'reasoning', 'recounted'; back: RESET VARIABLE measure;)
--        A trial that lacks that count has NULL, never 0. Two finals of one trial are listed in duplicate_finals.
--        Not ordered: rows include full requests; sorting is more expensive than reading.
CREATE OR REPLACE VIEW trials AS
SELECT * EXCLUDE (factor_lists)
FROM trial_rows;
