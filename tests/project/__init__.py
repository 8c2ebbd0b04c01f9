"""The project as a whole: set-up, pages, packages, rooms."""
