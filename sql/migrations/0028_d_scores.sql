-- D scores of people (`analyze --fit` with the engine d_score, R's d_score(): Greenwald, Nosek & Banaji 2003), one row a
-- person (`unit`): `d`; `n` latencies, without `n_slow` above 10,000 ms; `n_errors`; `share_fast` below 300 ms;
-- `n_phases`; `left_out` says why somebody has no D. `call_id` is that of `fits`, too.
CREATE TABLE d_score_people (
    call_id TEXT, term_no BIGINT, unit TEXT, d DOUBLE, n BIGINT, n_slow BIGINT, n_errors BIGINT, share_fast DOUBLE,
    n_phases BIGINT, left_out TEXT
);
