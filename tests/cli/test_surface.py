"""The surface: every command and option, on purpose."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from tests.support.command_line import CommandLine, fresh
from tpu_audit.cli.lazy import LazyGroup
from tpu_audit.cli.root import root

if TYPE_CHECKING:
    from collections.abc import Iterator

GLOBAL = frozenset(
    {
        *("--cache-dir", "--color", "--debug", "--help"),
        *("--no-progress", "--progress", "--quiet", "--verbose"),
    }
)
RULES = frozenset(
    {
        *("--exclude", "--gitignore", "--ignore", "--jobs", "--no-gitignore"),
        *("--per-file-ignores", "--preview", "--select"),
    }
)
SURFACE = {
    "": GLOBAL | {"--config", "--isolated", "--version"},
    "cache": {"--help"},
    "cache clean": GLOBAL | {"--dry-run", "--format"},
    "cache dir": GLOBAL | {"--format"},
    "cache info": GLOBAL | {"--format"},
    "check": GLOBAL
    | RULES
    | {
        *("PATH...", "--cache", "--diff", "--exit-zero", "--fail-on", "--format"),
        *("--min-severity", "--no-cache", "--output", "--show-suppressed", "--statistics"),
    },
    "completion": GLOBAL | {"{bash|zsh|fish|powershell}"},
    "config": {"--help"},
    "config init": GLOBAL | {"--force"},
    "config schema": GLOBAL | {"--check-report", "--report"},
    "config show": GLOBAL | {"--format"},
    "doctor": GLOBAL | {"--format", "--registry"},
    "explain": GLOBAL | {"CODE|OP", "--format", "--registry"},
    "fix": GLOBAL | RULES | {"PATH...", "--format", "--unsafe-fixes", "--write"},
    "registry": {"--help"},
    "registry build": GLOBAL | {"--format", "--output", "--python"},
    "registry diff": GLOBAL | {"A", "B", "--format"},
    "registry list": GLOBAL
    | {
        *("--dtype", "--evidence", "--format", "--hazard", "--limit", "--namespace"),
        *("--no-reference", "--reference", "--registry", "--support"),
    },
    "registry matrix": GLOBAL | {"--output", "--registry"},
    "registry show": GLOBAL | {"OP", "--format", "--registry"},
    "registry stats": GLOBAL | {"--format", "--registry"},
    "registry verify": GLOBAL
    | {
        *("--chip", "--dtype", "--format", "--jobs", "--limit", "--ops", "--output", "--python"),
        *("--registry", "--report", "--sample", "--stages", "--work-dir"),
    },
    "scan": GLOBAL
    | {
        "TARGET...",
        "--allow-incomplete",
        "--attn",
        "--autocast",
        "--batch",
        "--cache",
        "--check-code",
        "--checkpointing",
        "--chip",
        "--compile",
        "--dtype",
        "--exit-zero",
        "--experts",
        "--fail-on",
        "--format",
        "--ignore",
        "--kv-cache",
        "--max-memory",
        "--no-cache",
        "--no-check-code",
        "--offline",
        "--optimizer",
        "--output",
        "--phase",
        "--python",
        "--registry",
        "--revision",
        "--seq-len",
        "--timeout",
        "--tpu-python",
        "--tracer",
        "--train",
        "--trust-remote-code",
        "--with-reference-kernels",
    },
}


def walk(command: click.Command, ctx: click.Context) -> Iterator[click.Context]:
    """Yield a context for every command, groups included."""
    yield ctx
    if isinstance(command, click.Group):
        for sub in command.list_commands(ctx):
            found = command.get_command(ctx, sub)
            assert found is not None
            yield from walk(found, click.Context(found, info_name=sub, parent=ctx))


CONTEXTS = {
    ctx.command_path.removeprefix("tpu-audit").strip(): ctx
    for ctx in walk(root, click.Context(root, info_name="tpu-audit", **root.context_settings))
}


def test_surface_is_frozen() -> None:
    """A command or an option comes and goes only together with this table."""
    found = {}
    for name, ctx in CONTEXTS.items():
        names = set()
        for param in ctx.command.get_params(ctx):
            long = [opt for opt in (*param.opts, *param.secondary_opts) if opt.startswith("--")]
            names.update(long or [param.make_metavar(ctx)])
        found[name] = frozenset(names)

    assert found == {name: frozenset(options) for name, options in SURFACE.items()}


@pytest.mark.parametrize("name", CONTEXTS)
def test_everything_has_help(name: str) -> None:
    """Every command says what it does, and so does every option of it."""
    ctx = CONTEXTS[name]

    assert ctx.command.help
    for param in ctx.command.get_params(ctx):
        if isinstance(param, click.Option):
            assert param.help, param.opts


@pytest.mark.parametrize("name", [name for name in CONTEXTS if name])
def test_lists_say_what_commands_do(name: str) -> None:
    """The line in the list of commands is there without importing the command."""
    ctx = CONTEXTS[name]
    assert ctx.parent is not None
    group = ctx.parent.command
    assert isinstance(group, LazyGroup)

    own_line = group.lazy[ctx.info_name or ""].help if group.lazy else ctx.command.help or ""

    assert own_line.endswith(".")


@pytest.mark.parametrize("name", CONTEXTS)
def test_help_exits_clean(tpu_audit: CommandLine, name: str) -> None:
    """``--help`` and ``-h`` of everything print to stdout and exit 0."""
    ran = tpu_audit(*name.split(), "--help")

    assert ran.code == 0
    assert ran.out.startswith("Usage: tpu-audit")
    assert ran.err == ""
    assert tpu_audit(*name.split(), "-h") == ran


@pytest.mark.parametrize("kind", ["hub id", "folder", "config.json", "file.py:function"])
def test_scan_says_what_a_target_is(tpu_audit: CommandLine, kind: str) -> None:
    """The help of ``scan`` names every kind of target, a program of one's own included."""
    assert kind in " ".join(tpu_audit("scan", "--help").out.partition("Options:")[0].split())


def test_version(tpu_audit: CommandLine) -> None:
    """``--version`` is one line for scripts."""
    assert tpu_audit("--version").out == "tpu-audit 0.1.0\n"


LIGHT = [
    ["--help"],
    ["scan", "--help"],
    ["explain", "TPA901"],
    ["explain", "aten.mish.default"],
    ["registry", "list", "--limit", "3", "-q"],
    ["registry", "show", "aten.add.Tensor", "-f", "json"],
    ["registry", "stats"],
    ["config", "show"],
    ["cache", "info"],
]


@pytest.mark.parametrize("args", LIGHT, ids=" ".join)
def test_light_commands_import_nothing_heavy(args: list[str], tmp_path: Path) -> None:
    """Commands that need no model import neither torch nor transformers nor the hub's client."""
    script = (
        "import sys\n"
        "from tpu_audit.cli.run import run\n"
        f"code = run({args!r})\n"
        "heavy = {'torch', 'transformers', 'huggingface_hub', 'pydantic', 'numpy'}\n"
        "sys.exit(f'{code} {heavy & set(sys.modules)}' if code or heavy & set(sys.modules) else 0)"
    )
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path.cwd())}

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=env
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_help_imports_no_command(tmp_path: Path) -> None:
    """The list of commands costs none of their imports, nor rich's."""
    ran = fresh(["--help"], cwd=tmp_path, flags=["-X", "importtime"])

    assert "tpu_audit.cli.root" in ran.err
    assert "tpu_audit.cli.commands" not in ran.err
    assert "rich" not in ran.err
