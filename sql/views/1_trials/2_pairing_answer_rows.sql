-- pairing_answer_rows: one answer of a pairing a row, unordered and unlabelled: what tables count over.
-- grain: trial_id
-- reads: all_pairing_answers
-- design: pairing, decision
-- paper: Bai et al. (2025), equation 1
-- note:  `n_a_positive`: how many words of attribute a (the positive one) were given to group a; b is the stigmatised
--        group, where there is one. `d` = b_negative / (b_negative + b_positive) + a_positive / (a_negative +
--        a_positive) - 1, from -1 to 1; NULL where a group got no word (`is_one_sided`) and where there is no pair: a
--        refusal is never 0. `d_padded` is what the authors' code gives: .01 more in both denominators, so that longer
--        lists have larger values, and a one-sided answer has its share - 1; `d_filled` has that, without the .01.
--        `reading`: complete (every word has one group), partial, unread. `assigned` has a character for each of the
--        words in the order shown: a, b, x (both groups), . (none).
--        In a study of decisions: the pairings that some of its scenes begin with; a later task of the same message
--        may have gone otherwise, `outcome` is of the pairing. The order of an imported row may be unknown:
--        `first_group` is NULL then, and `pair` is what the answer itself names, where it names one of each group.
--        `factors` is read as text: R's duckdb comes without the json extension.
CREATE OR REPLACE VIEW pairing_answer_rows AS
SELECT * EXCLUDE (occasion, first_trial_id)
FROM all_pairing_answers
WHERE occasion = 1;
