"""One module a finding code: what it means, how a call shows it, what to do about it."""
