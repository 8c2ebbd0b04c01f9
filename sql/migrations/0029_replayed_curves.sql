-- How choices settle by round, in games and in their replays (`analyze --fit policies`, `learning`; R's replay_curves()):
-- shares of games as running means over five rounds. `call_id` is that of `fits`, too.
CREATE TABLE policies_curves (
    call_id TEXT, term_no BIGINT, policy TEXT, measure TEXT, round BIGINT, observed DOUBLE, predicted DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE
);
CREATE TABLE learning_curves (
    call_id TEXT, term_no BIGINT, measure TEXT, round BIGINT, observed DOUBLE, predicted DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE
);
