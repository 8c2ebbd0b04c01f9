-- planned_cells: each model in each test (of games: each variant) of a study as its file has it today.
-- grain: study, test, model
-- note:  set by a comparison (see printed_numbers), elsewhere without rows. `usual_variant` is the first, the
--        study as its file has it. Of games, `condition` is the format in which the model usually answers, and `n_planned` counts
--        games; a row without a model is of all that the study does not name.
CREATE OR REPLACE VIEW planned_cells AS
SELECT unnest(getvariable('planned_cells')::STRUCT(
    study VARCHAR, usual_variant VARCHAR, test VARCHAR, test_no INTEGER, model VARCHAR, model_no INTEGER, condition VARCHAR,
    n_planned INTEGER, is_asked_by_default BOOLEAN
)[], recursive := true);
