"""Read the rows that analyses use: views of the database, cell by cell."""
