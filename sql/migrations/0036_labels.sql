-- Standard errors of fit_dsl() if people had coded other numbers of texts; and corrected_choices(): how consistent choices
-- are that were shown twice, with means and effects as they are and corrected.
CREATE TABLE dsl_labels (call_id TEXT, model TEXT, test TEXT, term TEXT, n_labels BIGINT, std_error DOUBLE);
CREATE TABLE consistency_choices (
    call_id TEXT, model TEXT, test TEXT, statistic TEXT, attribute TEXT, level TEXT, estimate DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE, corrected DOUBLE, corrected_low DOUBLE, corrected_high DOUBLE, n BIGINT
);
