"""``tpu-audit completion``: shell completion scripts."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.root import PROG, root
from tpu_audit.cli.run import COMPLETE_VAR
from tpu_audit.types.errors import UsageError

_EPILOG = """\b
Put into the shell's start file:
  bash:  eval "$(tpu-audit completion bash)"
  zsh:   eval "$(tpu-audit completion zsh)"
  fish:  tpu-audit completion fish | source
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    completion = get_completion_class(shell)
    if completion is None:
        hint = "upgrade click, or choose bash, zsh or fish"
        raise UsageError(f"the installed click has no completion for {shell}", hint=hint)
    current_app().out.data(completion(root, {}, PROG, COMPLETE_VAR).source() + "\n")
