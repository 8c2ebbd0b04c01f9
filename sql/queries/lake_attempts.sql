-- The view that stands for the table `attempts` in a lake whose attempts nothing was found out of since: its parts.
CREATE VIEW attempts AS FROM attempt_parts
