"""Show trials in a browser: pages made on the server, or the same pages as files (`collect view`)."""
