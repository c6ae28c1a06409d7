"""Hand-made samples, one file an op family, for ops that torch's own test inputs do not reach."""
