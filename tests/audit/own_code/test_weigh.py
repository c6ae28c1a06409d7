"""What a finding in a file counts for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.checks import finding
from tpu_audit.audit.own_code.weigh import OwnCode, without_repeats
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.report import Location, Severity

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
class XModel:
    def forward(self, x):
        return x.cuda()

    def chat(self, x):
        return x.cuda()
"""
E, W, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


@pytest.fixture(name="spec")
def _spec(tmp_path: Path) -> ModelSpec:
    """Return a model with own code, a pipeline and a script beside it."""
    files = {"modeling_x.py": MODEL, "pairs.py": MODEL, "train.py": MODEL}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    config: dict[str, Any] = {
        "auto_map": {"AutoModel": "modeling_x.XModel"},
        "custom_pipelines": {"pairs": {"impl": "pairs.Pairs"}},
    }
    return ModelSpec(
        target="x",
        id="x",
        revision=None,
        config_source="local",
        config=config,
        code_files={name: str(tmp_path / name) for name in files},
    )


@pytest.mark.parametrize(
    ("path", "line", "severity", "runs", "asked"),
    [
        ("modeling_x.py", 3, E, E, W),
        ("modeling_x.py", 6, E, W, INFO),
        ("modeling_x.py", 3, W, W, INFO),
        ("modeling_x.py", 6, INFO, INFO, INFO),
        ("pairs.py", 6, E, W, W),
        ("train.py", 3, E, INFO, INFO),
        ("train.py", 3, INFO, INFO, INFO),
        ("requirements.txt", 3, E, INFO, INFO),
        ("config.json", 3, E, E, E),
        ("generation_config.json", 3, W, W, W),
    ],
)
def test_severities(
    spec: ModelSpec, path: str, line: int, severity: Severity, runs: Severity, asked: Severity
) -> None:
    """By file and line, where own code is what runs, and where it has to be asked for."""
    given = finding(severity=severity, location=Location(path=path, line=line, column=1))
    for native, wanted in ((False, runs), (True, asked)):
        (weighed,) = OwnCode(spec, native=native).weigh([given])
        assert weighed.severity is wanted
        assert (weighed.message == given.message) is (wanted is severity)
        assert weighed.message.startswith(given.message)


def test_reasons(spec: ModelSpec) -> None:
    """A message says why the finding counts less, and the cause says it too."""
    where = Location(path="modeling_x.py", line=6, column=1)
    (weighed,) = OwnCode(spec, native=True).weigh([finding(location=where, cause="c")])
    reasons = (
        " (in code that loading and forward do not reach)"
        " (only with `trust_remote_code=True`: transformers has the class)"
    )
    assert weighed.message.endswith(reasons)
    assert weighed.cause == f"c{reasons}"


def test_what_the_scan_says_itself(spec: ModelSpec) -> None:
    """That there is own code is not repeated; a dtype of the config is not that of the audit."""
    config, script = Location(path="config.json", line=1), Location(path="train.py", line=3)
    own = OwnCode(spec, native=False)
    kept = own.weigh(finding(code="TPA704", location=place) for place in (config, script))
    assert [f.location for f in kept] == [script]
    (dtype,) = own.weigh([finding(code="TPA703", severity=W, location=config)])
    assert dtype.severity is INFO


def test_a_line_says_it_better() -> None:
    """The unquantised trace is not told beside the line that quantises, and only then."""
    trace = finding(code="TPA921")
    line = finding(code="TPA702", location=Location(path="config.json", line=9))
    script = finding(code="TPA702", location=Location(path="train.py", line=9))
    assert without_repeats([trace, line], [line]) == (line,)
    assert without_repeats([trace], [script]) == (trace,)
