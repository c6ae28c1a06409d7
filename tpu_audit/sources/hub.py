"""Fetches a repository's small files through huggingface_hub, into its own cache.

Retries are huggingface_hub's: ``http_backoff`` waits as ``Retry-After`` and the rate-limit
headers say for 429 and backs off for 5xx; downloads resume and retry in ``hf_hub_download``.
Network failures of the first request are not retried: a cached copy answers sooner.
The token is looked up by huggingface_hub (``HF_TOKEN``, ``hf auth login``) and never seen here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from tpu_audit.sources.assemble import Found
from tpu_audit.sources.hub_errors import HubUnavailableError, outcome_of, reason_of
from tpu_audit.sources.options import hub_endpoint
from tpu_audit.sources.selection import CONFIG, is_optional, select_files

if TYPE_CHECKING:
    from tpu_audit.sources.target import HubTarget

_TIMEOUT_S = 10.0
"""Wait for an answer of the hub, seconds. Whether it is there at all was asked before."""
_LISTING_RETRIES = 3
_WORKERS = 8
_NAME = "tpu-audit"
"""Who asks, in the User-Agent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sibling:
    rfilename: str
    size: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Listing:
    """The hub's answer about a repository, as far as it is used here."""

    id: str
    sha: str
    siblings: tuple[_Sibling, ...] = ()
    library_name: str | None = None


class _NoBar:
    """A progress bar that shows nothing: the files are small, and stderr is the command's."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None: ...

    def update(self, _n: float | None = None) -> None: ...


def fetch(target: HubTarget) -> Found:
    """Ask the hub for a repository and fetch its small files.

    Raises NotAuditedError where the hub's answer is final, HubUnavailableError where it gave none.
    """
    import httpx2
    from huggingface_hub.errors import XetDownloadError

    try:
        listing = _list(target)
        selection = select_files({s.rfilename: s.size for s in listing.siblings})
        paths, unfetched = _download(listing, selection.names)
    except (httpx2.HTTPError, httpx2.InvalidURL, XetDownloadError, OSError, ValueError) as error:
        raise outcome_of(error, target) from error
    return Found(
        target=target.text,
        id=listing.id,
        revision=listing.sha,
        config_source=f"hub@{listing.sha}",
        files=tuple(sorted(s.rfilename for s in listing.siblings)),
        paths=paths,
        redirected_from=target.id if listing.id != target.id else None,
        library_name=listing.library_name,
        unfetched=unfetched,
        notes=selection.notes,
    )


def _list(target: HubTarget) -> _Listing:
    from pydantic import TypeAdapter, ValidationError

    utils: Any = import_module("huggingface_hub.utils")  # its names are lazy, unseen by mypy
    url = f"{hub_endpoint()}/api/models/{target.id}"
    if target.revision is not None:
        url += f"/revision/{quote(target.revision, safe='')}"
    response = utils.http_backoff(
        "GET",
        url,
        params={"blobs": "true"},
        headers=utils.build_hf_headers(library_name=_NAME),
        timeout=_TIMEOUT_S,
        max_retries=_LISTING_RETRIES,
        retry_on_exceptions=(),
    )
    utils.hf_raise_for_status(response)
    try:
        return TypeAdapter(_Listing).validate_json(response.content)
    except ValidationError as error:  # a captive portal or a mirror that is none
        raise HubUnavailableError(f"{hub_endpoint()} does not answer like a hub") from error


def _download(listing: _Listing, names: tuple[str, ...]) -> tuple[dict[str, Path], dict[str, str]]:
    """Return paths by name, and why there is none of a file that the audit can do without.

    The config comes first: if the repository is gated, nothing else is asked for.
    """
    paths = {name: _download_one(listing, name) for name in names if name == CONFIG}
    rest = [name for name in names if name != CONFIG]
    with ThreadPoolExecutor(_WORKERS) as pool:
        answers = dict(zip(rest, pool.map(lambda name: _try_one(listing, name), rest), strict=True))
    paths |= {name: answer for name, answer in answers.items() if isinstance(answer, Path)}
    return paths, {name: answer for name, answer in answers.items() if isinstance(answer, str)}


def _try_one(listing: _Listing, name: str) -> Path | str:
    """Fetch a file; for code and what stands around it, say why that fails instead of failing."""
    import httpx2
    from huggingface_hub.errors import XetDownloadError

    try:
        return _download_one(listing, name)
    except (httpx2.HTTPError, XetDownloadError, OSError, ValueError) as error:
        if is_optional(name):
            return reason_of(error)
        raise


def _download_one(listing: _Listing, name: str) -> Path:
    import huggingface_hub

    path = huggingface_hub.hf_hub_download(
        listing.id,
        name,
        revision=listing.sha,
        endpoint=hub_endpoint(),
        etag_timeout=_TIMEOUT_S,
        tqdm_class=_NoBar,
        library_name=_NAME,
    )
    return Path(path)
