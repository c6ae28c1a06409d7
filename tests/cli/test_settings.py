"""Settings: where they come from, what is refused, that they take effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.support.reports import report
from tpu_audit import api

if TYPE_CHECKING:
    from tests.support.command_line import CommandLine
    from tpu_audit.types.report import Report


def in_force(tpu_audit: CommandLine, *args: str) -> dict[str, tuple[Any, str]]:
    """Return setting -> (value, origin) as ``config show`` tells."""
    ran = tpu_audit(*args, "config", "show", "-f", "json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["settings"]
    return {item["key"]: (item["value"], item["origin"]) for item in found}


def test_defaults(tpu_audit: CommandLine) -> None:
    """Without files and variables everything is a default."""
    found = in_force(tpu_audit)

    assert found["scan.dtype"] == (["bfloat16"], "default")
    assert found["scan.seq-len"] == (128, "default")
    assert found["scan.fail-on"] == ("error", "default")
    assert found["registry"] == (None, "default")
    assert found["cache-dir"][1] == "TPU_AUDIT_CACHE_DIR"


def test_order_of_origins(tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line goes before variables, they before the file, it before defaults."""
    file = tpu_audit.folder / "tpu-audit.toml"
    file.write_text(
        'color = "never"\nregistry = "0.2.0"\n[scan]\nbatch = 2\nseq-len = 64\ncache = false\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("TPU_AUDIT_SCAN_BATCH", "3")
    found = in_force(tpu_audit, "--color", "always", "--cache-dir", "here")

    assert found["color"] == ("always", "command line")
    assert found["cache-dir"] == ("here", "command line")
    assert found["scan.batch"] == (3, "TPU_AUDIT_SCAN_BATCH")
    assert found["scan.seq-len"] == (64, str(file))
    assert found["scan.cache"] == (False, str(file))
    assert found["registry"] == ("0.2.0", str(file))
    assert found["scan.timeout"] == (300.0, "default")
    assert in_force(tpu_audit, "--isolated")["scan.seq-len"] == (128, "default")

    monkeypatch.setenv("TPU_AUDIT_REGISTRY", "0.2.0+torch2.13")
    assert in_force(tpu_audit)["registry"] == ("0.2.0+torch2.13", "TPU_AUDIT_REGISTRY")


def test_nearest_file(tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest file wins whole; projects without our table are passed by, broken or not."""
    inner = tpu_audit.folder / "a" / "b"
    inner.mkdir(parents=True)
    outer = tpu_audit.folder / "pyproject.toml"
    outer.write_text("[tool.tpu-audit.scan]\nbatch = 2\nseq-len = 9\n", encoding="utf-8")
    (tpu_audit.folder / "a" / "pyproject.toml").write_text("not [valid", encoding="utf-8")
    monkeypatch.chdir(inner)
    assert in_force(tpu_audit)["scan.batch"] == (2, str(outer))

    own = inner / "tpu-audit.toml"
    own.write_text("[scan]\nbatch = 5\n", encoding="utf-8")
    found = in_force(tpu_audit)
    assert found["scan.batch"] == (5, str(own))
    assert found["scan.seq-len"] == (128, "default")

    named = in_force(tpu_audit, "--config", str(outer))
    assert named["scan.seq-len"] == (9, str(outer))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour = 'never'", "unknown setting 'colour'\nhint: did you mean 'color'?"),
        ("xyzzy = 1", "unknown setting 'xyzzy'\nhint: valid keys here: cache-dir, check, color"),
        ("[scan]\nseqlen = 1", "unknown setting 'scan.seqlen'\nhint: did you mean 'seq-len'?"),
        ("[scam]\nbatch = 1", "unknown setting 'scam'\nhint: did you mean 'scan'?"),
        ("[explain]\nformat = 'json'", "unknown setting 'explain'"),
        ("scan = 3", "scan = 3: must be a table"),
        ("[color]\na = 1", "color = {'a': 1}: must be a string"),
        ("[scan]\nbatch = '2'", "scan.batch = '2': must be a whole number"),
        ("[scan]\nbatch = true", "scan.batch = True: must be a whole number"),
        ("[scan]\nbatch = 0", "scan.batch = 0: 0 is not in the range"),
        ("[scan]\noffline = 'yes'", "scan.offline = 'yes': must be true or false"),
        ("[scan]\ntimeout = 'x'", "scan.timeout = 'x': must be a number"),
        ("[scan]\ndtype = 'bf16'", "scan.dtype = 'bf16': must be a list of strings"),
        ("[scan]\ndtype = ['int3']", "scan.dtype = ['int3']: 'int3' is not a dtype"),
        ("[scan]\nfail-on = 'fatal'", "scan.fail-on = 'fatal': 'fatal' is not one of"),
        ("color = 'pink'", "color = 'pink': 'pink' is not one of"),
        ("= broken", "not valid TOML"),
    ],
)
def test_bad_settings_are_refused(tpu_audit: CommandLine, text: str, says: str) -> None:
    """A wrong key, type or value is 2 and names file, key and what would be right."""
    file = tpu_audit.folder / "tpu-audit.toml"
    file.write_text(text, encoding="utf-8")
    ran = tpu_audit("config", "show")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {file}: ")
    assert says in ran.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--config", "absent.toml"], "cannot read the settings file absent.toml"),
        (["--config", "x", "--isolated"], "choose one"),
        (["--isolated", "--config", "x"], "choose one"),
    ],
)
def test_bad_choice_of_file(tpu_audit: CommandLine, args: list[str], says: str) -> None:
    """A settings file that is not there, or forbidden and named at once, is 2."""
    ran = tpu_audit(*args, "config", "show")

    assert ran.code == 2
    assert says in ran.err


def test_bad_variable(tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong value in a variable is 2 as well."""
    monkeypatch.setenv("TPU_AUDIT_SCAN_BATCH", "many")
    ran = tpu_audit("scan", "x")

    assert ran.code == 2
    assert "'many' is not a valid integer" in ran.err


def test_help_works_with_a_broken_file(tpu_audit: CommandLine) -> None:
    """A broken settings file stands in nobody's way to the help."""
    (tpu_audit.folder / "tpu-audit.toml").write_text("= broken", encoding="utf-8")

    assert tpu_audit("--help").code == 0
    assert tpu_audit("--isolated", "config", "show").code == 0


def test_settings_take_effect(tpu_audit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file says is what the scan is told; paths are seen from the file."""
    asked: list[api.ScanOptions] = []

    def scan(_: object, *, options: api.ScanOptions) -> Report:
        asked.append(options)
        return report()

    monkeypatch.setattr(api, "scan", scan)
    monkeypatch.delenv("TPU_AUDIT_CACHE_DIR")
    (tpu_audit.folder / "mine.json").write_text("{}", encoding="utf-8")
    (tpu_audit.folder / "tpu-audit.toml").write_text(
        'cache-dir = "kept"\nregistry = "mine.json"\nignore = ["pin-memory", "TPA6"]\n'
        '[scan]\ndtype = ["bf16,f32", "bf16"]\nseq-len = 64\noffline = true\ncache = false\n'
        'fail-on = "never"\nformat = "json"\nmax-memory = 512\ncheck-code = false\n',
        encoding="utf-8",
    )
    inner = tpu_audit.folder / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    ran = tpu_audit("scan", "x", "--seq-len", "32", "-q")

    (options,) = asked
    assert ran.code == 0
    assert json.loads(ran.out)["schema"] == "tpu-audit/report/1"
    assert options.dtypes == ("bfloat16", "float32")
    assert (options.seq_len, options.memory_mb) == (32, 512)
    assert (options.offline, options.use_cache) == (True, False)
    assert (options.check_code, options.ignore) == (False, ("pin-memory", "TPA6"))
    assert options.cache_dir == tpu_audit.folder / "kept"
    assert options.registry == str(tpu_audit.folder / "mine.json")


def test_init(tpu_audit: CommandLine) -> None:
    """The written file changes nothing; every line of it that is switched on is valid."""
    file = tpu_audit.folder / "tpu-audit.toml"
    assert tpu_audit("config", "init").code == 0
    text = file.read_text(encoding="utf-8")
    assert in_force(tpu_audit)["scan.batch"] == (1, "default")

    again = tpu_audit("config", "init")
    assert again.code == 2
    assert "exists already\nhint: --force overwrites it" in again.err

    switched = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    lines = [line for line in switched if '= "' not in line or "VERSION" not in line]
    file.write_text("\n".join(lines), encoding="utf-8")
    found = in_force(tpu_audit)
    assert found["scan.dtype"] == (["bfloat16"], str(file))
    assert tpu_audit("config", "init", "--force").code == 0
    assert file.read_text(encoding="utf-8") == text


def test_schema(tpu_audit: CommandLine) -> None:
    """The schema of the file accepts good settings and refuses bad ones."""
    schema = json.loads(tpu_audit("config", "schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    assert validator.is_valid({"color": "auto", "scan": {"seq-len": 64, "dtype": ["bf16"]}})
    assert validator.is_valid({"scan": {"chip": "v5e", "with-reference-kernels": True}})
    assert not validator.is_valid({"scan": {"chip": "v4"}})
    assert not validator.is_valid({"scan": {"seq-len": 0}})
    assert not validator.is_valid({"scan": {"seqlen": 64}})
    assert not validator.is_valid({"scan": {"timeout": 0}})


def test_report_schema(tpu_audit: CommandLine) -> None:
    """The schema of the report is the published one."""
    published = Path(__file__).parents[2] / "reports" / "schema" / "report-v1.json"

    assert tpu_audit("config", "schema", "--report").out == published.read_text(encoding="utf-8")
