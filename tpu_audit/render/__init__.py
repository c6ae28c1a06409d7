"""Report formats: one module a format, behind one protocol. Results in, text out."""
