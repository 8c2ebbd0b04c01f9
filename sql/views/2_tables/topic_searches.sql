-- topic_searches: how numbers of topics compare (stm's searchK).
-- grain: search_id, n_topics
-- order: source, study, study_version, variant, fit, search_id, n_topics
-- note:  higher is better for the held-out likelihood, semantic coherence and exclusivity, lower (nearer to 1) for
--        the dispersion of residuals; they rarely agree. `lower_bound` is the bound corrected for the order of
--        topics.
CREATE OR REPLACE VIEW topic_searches AS
SELECT source, study, study_version, variant, fit, n_topics, heldout_likelihood, residual_dispersion,
       semantic_coherence, exclusivity, bound, lower_bound, n_steps, n_documents, n_words, seed, versions, seconds,
       ended_at AS searched_at, search_id
FROM stm_searches
JOIN calls USING (call_id);
