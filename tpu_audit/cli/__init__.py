"""The command line: one module a command, imported when it is called; one sink for output."""
