"""Run the subcommands of `collect`, and say what they have in common."""
