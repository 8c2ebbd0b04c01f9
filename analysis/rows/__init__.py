"""The rows that analyses read: views of the database, cell by cell."""
