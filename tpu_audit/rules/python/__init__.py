"""What a Python module means: names, values, reachability, context."""
