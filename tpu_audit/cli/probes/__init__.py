"""What ``doctor`` looks at, one probe a file. Each returns checks and raises nothing."""
