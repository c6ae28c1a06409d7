"""Rules on dtypes and mixed precision."""
