"""What a check of a kernel came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One check of one op at one dtype."""

    check: str
    dtype: str
    """``float32``; empty where the dtype does not matter."""
    tried: int
    """Samples that the check looked at; 0: it does not apply, or there are no samples."""
    failures: tuple[str, ...] = ()
    """One message a sample that failed."""

    @property
    def passed(self) -> int:
        """Samples that passed."""
        return self.tried - len(self.failures)

    @property
    def counts(self) -> str:
        """``12/12``, as the registry stores it."""
        return f"{self.passed}/{self.tried}"


def tell(error: BaseException, limit: int = 300) -> str:
    """Return ``TypeName: message``, the message's first lines only."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:limit]}"
