"""The op by dtype evidence matrix of a registry: one page, or a summary."""
