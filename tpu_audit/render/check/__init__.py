"""Reports of checked files, one format a module."""
