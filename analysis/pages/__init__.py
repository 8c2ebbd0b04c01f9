"""Write pages for people: the report and the page of checks."""
