"""A hub on loopback: the requests huggingface_hub makes, answered from a folder in hub layout.

``root/org/name/...`` is a model; ``root/org/name@rev/...`` is the same model at another revision.
What it imitates: listings and files by branch, tag or commit; redirects of renamed models; the
error codes of missing, gated and unauthorised requests; faults, slowness and cut bodies on order.
Every request is logged, so that a test can say what was, and was not, asked for.
"""

from __future__ import annotations

import hashlib
import json
import re
from threading import Thread
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from tests.support.fakehub_wire import Answer, Fault, Request, Server, handler_of, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_API = re.compile(r"/api/models/(?P<id>[^/]+(?:/[^/]+)?)(?:/revision/(?P<rev>[^/]+))?")
_FILE = re.compile(r"/(?P<id>[^/]+(?:/[^/]+)?)/resolve/(?P<rev>[^/]+)/(?P<file>.+)")


class FakeHub:
    """Use as a context manager; ``url`` is the endpoint."""

    def __init__(self, root: Path, *, port: int = 0) -> None:
        self.root = root
        self.renamed: dict[str, str] = {}
        """Old id -> new id; both are served."""
        self.gated: set[str] = set()
        """Ids whose files need a token in ``allowed``."""
        self.allowed: set[str] = set()
        self.tags: dict[str, str] = {}
        """Id -> ``library_name`` of the listing."""
        self.unsized = False
        """Listings leave sizes out, as some mirrors do."""
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self._server = Server(("127.0.0.1", port), handler_of(self))
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, if a test has not done so."""
        self.stop()

    def stop(self) -> None:
        """Close the port: from now on connections are refused."""
        self._server.shutdown()
        self._server.server_close()

    def add(self, repo_id: str, files: Mapping[str, str | bytes]) -> None:
        """Write a model's files."""
        for name, content in files.items():
            path = self.root / repo_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, repo_id: str, revision: str = "main") -> str:
        """Name the commit a revision is at: a digest of the content."""
        digest = hashlib.sha1(repo_id.encode(), usedforsecurity=False)
        for name, path in sorted(_files(self._folder(repo_id, revision)).items()):
            digest.update(name.encode() + path.read_bytes())
        return digest.hexdigest()

    def fetched(self, method: str = "GET") -> list[str]:
        """Names of the files asked for, sorted."""
        asked = (_FILE.fullmatch(r.path) for r in self.requests if r.method == method)
        return sorted(match["file"] for match in asked if match)

    def answer(self, request: Request) -> Answer:
        """Work out the response, faults aside."""
        api, file = _API.fullmatch(request.path), _FILE.fullmatch(request.path)
        match = api or file
        if match is None:
            return refusal(404, "NoRoute")
        repo_id = match["id"]
        if repo_id in self.renamed:
            place = request.path.replace(repo_id, self.renamed[repo_id], 1)
            return Answer(status=307, headers={"Location": place})
        if not (self.root / repo_id).is_dir() or "/" not in repo_id:
            return refusal(404 if request.token else 401, "RepoNotFound")
        revision = self._revision(repo_id, unquote(match["rev"] or "main"))
        if revision is None:
            return refusal(404, "RevisionNotFound")
        if api:
            return self._listing(repo_id, revision)
        return self._file(repo_id, revision, unquote(match["file"]), request.token)

    def _listing(self, repo_id: str, revision: str) -> Answer:
        rows: list[dict[str, Any]] = []
        for name, path in sorted(_files(self._folder(repo_id, revision)).items()):
            size = {} if self.unsized else {"size": path.stat().st_size}
            rows.append({"rfilename": name, **size})
        listing = {
            "id": repo_id,
            "sha": self.commit(repo_id, revision),
            "gated": "manual" if repo_id in self.gated else False,
            "siblings": rows,
            "library_name": self.tags.get(repo_id),
        }
        return Answer(body=json.dumps(listing).encode())

    def _file(self, repo_id: str, revision: str, name: str, token: str) -> Answer:
        if repo_id in self.gated and token not in self.allowed:
            return refusal(403 if token else 401, "GatedRepo")
        commit = {"X-Repo-Commit": self.commit(repo_id, revision)}
        path = _files(self._folder(repo_id, revision)).get(name)
        if path is None:
            return refusal(404, "EntryNotFound", commit)
        body = path.read_bytes()
        etag = hashlib.sha1(body, usedforsecurity=False).hexdigest()
        return Answer(body=body, headers={**commit, "ETag": f'"{etag}"'})

    def _folder(self, repo_id: str, revision: str) -> Path:
        return self.root / (repo_id if revision == "main" else f"{repo_id}@{revision}")

    def _revision(self, repo_id: str, wanted: str) -> str | None:
        """Name of the branch or tag that was asked for by name or by commit."""
        org, _, name = repo_id.partition("/")
        others = [p.name.partition("@")[2] for p in (self.root / org).glob(f"{name}@*")]
        names = ["main", *others]
        return next((n for n in names if wanted in {n, self.commit(repo_id, n)}), None)


def _files(folder: Path) -> dict[str, Path]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in paths}
