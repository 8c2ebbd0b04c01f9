"""What an engine keeps beside its estimates: tables in the database, and files beside it."""
