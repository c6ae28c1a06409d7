"""Repairs what the checker finds: edits in passes, imports, a diff, a write that is whole."""
