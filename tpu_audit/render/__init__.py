"""Reports as text and JSON; one module a format."""
