-- All tables call a test `test` and its conditions `condition`, those of forced choices, too: `domain` and `block` are
-- the words of one paper. `contrast` is the column whose two labels a permutation swaps.

ALTER TABLE brms_predictions RENAME COLUMN domain TO test;
ALTER TABLE brms_predictions RENAME COLUMN block TO condition;
ALTER TABLE brms_contrasts RENAME COLUMN domain TO test;
ALTER TABLE brms_checks RENAME COLUMN domain TO test;
ALTER TABLE brms_checks RENAME COLUMN block TO condition;
ALTER TABLE lme4_predictions RENAME COLUMN domain TO test;
ALTER TABLE lme4_predictions RENAME COLUMN block TO condition;
ALTER TABLE lme4_contrasts RENAME COLUMN domain TO test;
ALTER TABLE permutation_draws RENAME COLUMN domain TO test;
ALTER TABLE permutation_cells RENAME COLUMN domain TO test;
ALTER TABLE permutations RENAME COLUMN block TO contrast;
ALTER TABLE permutations RENAME COLUMN n_one_block TO n_one_condition;
