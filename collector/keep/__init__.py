"""Keep journals, and the database that they are loaded into."""
