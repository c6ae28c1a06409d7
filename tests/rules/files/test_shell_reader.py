"""Shell scripts: words, assignments, nested commands, directives of batch systems."""

from __future__ import annotations

import pytest

from tests.support.documents import pins, read, start, values, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b 'c d' \"e $f\" g\\ h", [["a", "b", "c d", "e $f", "g h"]]),
        ("a && b || c; d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"]]),
        ("a \\\n  b # c\n# d\ne", [["a", "b"], ["e"]]),
        ("a > f 2>&1 < g b", [["a", "b"]]),
        ('echo "n $(a -b | c)"', [["echo", "n $(a -b | c)"], ["a", "-b"], ["c"]]),
        ("x=`a b`", [[], ["a", "b"]]),
        ("sudo -H a; env X=1 b; nohup c &", [["a"], ["b"], ["c"]]),
        ("bash -c 'a && b'", [["bash", "-c", "a && b"], ["a"], ["b"]]),
        ("cat <<EOT > f\nnot a command\nEOT\na", [["cat"], ["a"]]),
        ("bash <<'EOT'\na\nEOT\nb", [["a"], ["bash"], ["b"]]),
        ("(a; b) && { c; }", [["a"], ["b"], ["c"]]),
        ("export A=1 B", [[]]),
        ("a#b #c", [["a#b"]]),
        ("a 'unclosed", [["a", "unclosed"]]),
        ("a $(unclosed", [["a", "$(unclosed"], ["unclosed"]]),
        ("a\r\nb\r\n", [["a"], ["b"]]),
    ],
)
def test_commands(text: str, found: list[list[str]]) -> None:
    """Scripts are split into simple commands as a shell would."""
    assert words(read("shell", text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A=1 B='c d' cmd", {"A": "1", "B": "c d"}),
        ("export A=1 B", {"A": "1"}),
        ("A=(x y)", {"A": "(x y)"}),
        ("setenv A b", {"A": "b"}),
        ("env A=1 cmd A=2", {"A": "1"}),
        ("echo A=1", {}),
    ],
)
def test_assignments(text: str, found: dict[str, str]) -> None:
    """What a script assigns is an entry; an argument that looks like it is not."""
    assert values(read("shell", text)) == found


def test_places() -> None:
    """Words and assignments have their places, quotes included, in nested commands too."""
    document = read("shell", "é=1\nA='b' x \"$(nvidia-smi  -L)\"\n")
    _, outer, inner = document.commands

    assert start(outer.words[1].span) == (2, 9)
    assert document.source.slice(outer.words[1].span) == '"$(nvidia-smi  -L)"'
    assert start(inner.words[1].span) == (2, 24)
    assert document.source.slice(outer.assignments[0].span) == "'b'"


def test_directives() -> None:
    """Comments that a batch system obeys are commands; the rest of a comment is not."""
    document = read("shell", "#!/bin/bash\n#SBATCH --gres=gpu:a100:3 # three\n# SBATCH -x\nrun\n")

    assert words(document) == [["#SBATCH", "--gres=gpu:a100:3"], ["run"]]
    found = document.commands[0].option("--gres")
    assert found is not None
    assert (found.text, start(found.span)) == ("gpu:a100:3", (2, 9))
    assert document.flavours == {"slurm"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "pip install torch==2.1 --index-url https://x 'cupy>=1'",
            [("torch", "==2.1"), ("cupy", ">=1")],
        ),
        ("python -m pip install -U bitsandbytes -r r.txt .", [("bitsandbytes", "")]),
        ("uv pip install flash_attn --no-build-isolation", [("flash-attn", "")]),
        ("mamba install -y -n e pytorch-cuda=11.8 -c nvidia", [("pytorch-cuda", "=11.8")]),
        ("poetry add apex", [("apex", "")]),
        ("pip uninstall torch; pip list; apt install cuda", []),
        ("pip install git+https://github.com/NVIDIA/apex", [("apex", "")]),
    ],
)
def test_installed(text: str, found: list[tuple[str, str]]) -> None:
    """What installers bring is a requirement; options and their values are not."""
    assert pins(read("shell", text)) == found


def test_deep_substitutions_end() -> None:
    """Substitutions inside each other are followed only so far."""
    document = read("shell", "$(" * 5000 + "a" + ")" * 5000)

    assert 0 < len(document.commands) < 30
