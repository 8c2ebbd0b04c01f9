-- view_orders: the query that shows a view in its order, with models, tests and conditions as the study declares them.
-- grain: view
-- note:  a view itself has no order, as is usual in SQL. `query` is made from the head of the view's file (`-- order:`,
--        or a grain that is "sorted by" its columns). slant shows the view by it in Python, in R, in exports and in the
--        viewer. A view that is not here sorts itself.
CREATE OR REPLACE VIEW view_orders AS
SELECT *
FROM (VALUES
    $rows
) AS listed(view, query);
