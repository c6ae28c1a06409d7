"""Whether the hub answers."""

from __future__ import annotations

import os
import urllib.error
import urllib.request

from tpu_audit.cli.probes.check import Check, Health

DEFAULT_ENDPOINT = "https://huggingface.co"
_TIMEOUT_S = 5.0
_OFFLINE = "use --offline with cached or local models, or scan from tpu-audit's built-in catalogue"


def check_hub() -> Check:
    """Ask the endpoint for its front page; any answer means that it is there."""
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or DEFAULT_ENDPOINT
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return Check(name="hub", health=Health.WARNING, detail="HF_HUB_OFFLINE is set: not asked")
    problem = _problem(endpoint)
    if problem is None:
        token = "with" if os.environ.get("HF_TOKEN") else "without"
        detail = f"{endpoint} answers; {token} HF_TOKEN"
        return Check(name="hub", health=Health.OK, detail=detail)
    detail = f"{endpoint} is not reachable: {problem}"
    return Check(name="hub", health=Health.WARNING, detail=detail, hint=_OFFLINE)


def _problem(endpoint: str) -> str | None:
    if not endpoint.startswith(("http://", "https://")):
        return "HF_ENDPOINT must begin with http:// or https://"
    request = urllib.request.Request(endpoint, method="HEAD")  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310 - checked above
            return None
    except urllib.error.HTTPError:
        return None  # an answer, if not a friendly one
    except urllib.error.URLError as error:
        return str(error.reason)
    except (OSError, ValueError) as error:
        return str(error) or type(error).__name__
