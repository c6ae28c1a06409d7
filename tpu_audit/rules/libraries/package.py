"""A library that needs CUDA: its names, what becomes of it on a TPU, what replaces it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """One library, by every name it goes by."""

    name: str
    """What people call it."""
    imports: tuple[str, ...] = ()
    """Dotted names whose import brings it."""
    projects: tuple[str, ...] = ()
    """Names of its distributions and repositories, as PEP 503 compares them; one that ends in
    ``-*`` stands for all that begin so (``cupy-cuda12x``)."""
    needs: str
    """What happens on a TPU; completes "on a TPU ..."."""
    instead: str
    """What to use: one sentence."""
    runs_on_host: bool = False
    """It is imported and runs without CUDA, on the host's CPU."""
    builds: bool = False
    """Its installation compiles CUDA code, and so fails without the CUDA toolkit."""
    commands: tuple[str, ...] = ()
    """Programs that it installs."""
    images: tuple[str, ...] = ()
    """Beginnings of container images that bring it: ``vllm/vllm-openai``."""
    words: tuple[str, ...] = ()
    """Further words of a file that uses it, for names that its own words do not find."""

    def tokens(self) -> frozenset[str]:
        """Return words one of which every file that uses it contains."""
        roots = {name.partition(".")[0] for name in self.imports}
        longest = {
            max(re.findall(r"\w+", name), key=len)
            for name in (*self.projects, *self.commands, *self.images)
        }
        return frozenset(roots | longest | {*self.words})
