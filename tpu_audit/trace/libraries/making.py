"""What building a model of any library shares."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import torch

from tpu_audit.trace.transformers_api import no_init_weights
from tpu_audit.types.errors import NotAuditedError, Stage, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def making(
    what: str, dtype: torch.dtype, device: str, hint: str, *, initialise: bool = False
) -> Iterator[None]:
    """Build on ``device`` in ``dtype``; initial weights are drawn only if ``initialise`` says so.

    Whatever a constructor raises becomes a NotAuditedError at stage ``build``.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device), nullcontext() if initialise else no_init_weights():
            yield
    except NotAuditedError:
        raise
    except Exception as error:
        raise NotAuditedError(
            f"{what} cannot be built from this config: {shorten(error)}",
            stage=Stage.BUILD,
            code="missing_dependency" if isinstance(error, ImportError) else "build_failed",
            hint=hint,
        ) from error
    finally:
        torch.set_default_dtype(before)
