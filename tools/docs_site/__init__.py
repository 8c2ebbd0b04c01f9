"""Build the site of slant: pages, help of commands, Python and R, tables, figures, examples (`make docs-site`)."""
