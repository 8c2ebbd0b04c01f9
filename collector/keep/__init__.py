"""What is kept: journals, and the database that they are loaded into."""
