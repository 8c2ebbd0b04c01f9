-- printed_scopes: the models, each with its condition or none, that a print calls by one name ("all five").
-- grain: study, scope, scope_no
-- note:  set by a comparison (see printed_numbers), elsewhere without rows. `scope_no` is the order of the print.
CREATE OR REPLACE VIEW printed_scopes AS
SELECT unnest(getvariable('printed_scopes')::STRUCT(
    study VARCHAR, scope VARCHAR, scope_no INTEGER, model VARCHAR, condition VARCHAR
)[], recursive := true);
