-- The view that takes the place of the table `attempts` in a lake, if nothing was found out about them since: its parts.
CREATE VIEW attempts AS FROM attempt_parts
