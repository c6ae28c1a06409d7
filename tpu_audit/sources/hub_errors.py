"""What each failure of the hub means for a target."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from tpu_audit.sources.options import hub_endpoint
from tpu_audit.types.errors import NotAuditedError, Stage, TargetNotFoundError, TpuAuditError

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError

    from tpu_audit.sources.target import HubTarget

_TOKEN_HINT = "set HF_TOKEN to a token that can read it, or run `hf auth login`"  # noqa: S105


class HubUnavailableError(Exception):
    """The hub gave no usable answer, so a cached copy or the catalogue may answer instead.

    ``code`` is ``network`` or ``rate_limited``; the text is a clause that says why.
    """

    def __init__(self, reason: str, *, code: str = "network") -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


def outcome_of(error: Exception, target: HubTarget) -> Exception:
    """Translate an error of huggingface_hub, httpx2 or the operating system.

    The result is a NotAuditedError where the hub did answer, HubUnavailableError where not.
    """
    import httpx2
    from huggingface_hub import errors

    if isinstance(error, errors.HfHubHTTPError):
        return _http_outcome(error, target)
    if isinstance(error, httpx2.TooManyRedirects):
        return _refused(target, "its redirects lead in a circle", code="renamed")
    if isinstance(error, httpx2.HTTPError):
        return HubUnavailableError(_clause(error))
    if isinstance(error, OSError) and error.filename is not None:
        return _refused(
            target,
            f"the Hugging Face cache cannot be written ({error.strerror}: {error.filename})",
            code="cache_unwritable",
            hint="set HF_HOME to a folder that can be written",
        )
    return HubUnavailableError(_clause(error))


def reason_of(error: Exception) -> str:
    """Say in a clause why one file could not be had."""
    from huggingface_hub import errors

    # The client says "check your connection" of any failure and keeps what it was as the cause.
    cause = error.__cause__ if isinstance(error, errors.LocalEntryNotFoundError) else None
    first = cause if isinstance(cause, Exception) else error
    if isinstance(first, errors.HfHubHTTPError):
        return f"the hub answered {first.response.status_code}"
    return _clause(first)


def _http_outcome(error: HfHubHTTPError, target: HubTarget) -> Exception:
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return gated(target)
    if isinstance(error, errors.RepositoryNotFoundError):
        moved = error.response.history
        return _renamed(target, str(error.response.url)) if moved else _not_found(target)
    if isinstance(error, errors.RevisionNotFoundError):
        return TargetNotFoundError(
            f"{target.id} has no revision {target.revision!r}",
            stage=Stage.RESOLVE,
            code="revision_not_found",
            hint=f"its branches and tags are listed at {hub_endpoint()}/{target.id}/tree/main",
        )
    if isinstance(error, errors.DisabledRepoError):
        return _refused(target, "the hub has disabled it", code="disabled")
    return _status_outcome(error.response.status_code, target)


def _status_outcome(status: int, target: HubTarget) -> Exception:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return HubUnavailableError("the hub limits our rate (429)", code="rate_limited")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
        return HubUnavailableError(f"the hub answered {status}")
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        refused = f"the hub refused access ({status})"
        return _refused(target, refused, code="unauthorized", hint=_TOKEN_HINT)
    return _refused(target, f"the hub answered {status}", code="hub_error")


def _clause(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def gated(target: HubTarget) -> TpuAuditError:
    """Say that the repository exists, but its files are behind a licence to accept."""
    return _refused(
        target,
        "it is gated and this machine has no access",
        code="gated",
        hint=f"accept its licence at {hub_endpoint()}/{target.id}, then {_TOKEN_HINT}",
    )


def _not_found(target: HubTarget) -> TpuAuditError:
    return TargetNotFoundError(
        f"the hub has no model {target.id!r}, or it is private",
        stage=Stage.RESOLVE,
        code="not_found",
        hint=f"check the spelling; if it is private, {_TOKEN_HINT}",
    )


def _renamed(target: HubTarget, url: str) -> TpuAuditError:
    return _refused(
        target,
        f"it was renamed, but the new place does not exist ({url})",
        code="renamed",
        hint="look the model up on the hub and give its present id",
    )


def _refused(
    target: HubTarget, what: str, *, code: str, hint: str | None = None
) -> NotAuditedError:
    message = f"{target.id} could not be fetched: {what}"
    return NotAuditedError(message, stage=Stage.RESOLVE, code=code, hint=hint)
