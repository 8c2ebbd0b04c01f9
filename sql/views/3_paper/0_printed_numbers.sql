-- printed_numbers: the numbers that a study's CSV prints, while a comparison with them reads the database.
-- grain: study, number_no
-- note:  the database keeps no print: a comparison sets the variable `printed_numbers`, and elsewhere there are no rows.
--        `number_no` is the row of the CSV. `name` is the quantity without what tells two numbers of the same name apart
--        ("t005 max_reasoning_tokens"); `is_of_print` numbers have no answers of models next to them.
CREATE OR REPLACE VIEW printed_numbers AS
WITH listed AS (
    SELECT unnest(getvariable('printed_numbers')::STRUCT(
        study VARCHAR, number_no INTEGER, place VARCHAR, model VARCHAR, test VARCHAR, refusals_removed BOOLEAN,
        condition VARCHAR, quantity VARCHAR, printed VARCHAR, source VARCHAR, is_of_print BOOLEAN
    )[], recursive := true)
)
SELECT *, split_part(quantity, ' ', -1) AS name
FROM listed;
