"""Constants that may reach an expression, and the ways they come."""

from __future__ import annotations

import pytest

from tests.support.python_code import module_of, seek
from tpu_audit.rules.python.possible import HOLE, Via

WAYS = {
    "literal": ('seek("cuda")', Via.LITERAL),
    "variable": ('d = "cuda"\nseek(d)', Via.VARIABLE),
    "two variables": ('d = "cuda"\ne = d\nseek(e)', Via.VARIABLE),
    "annotated": ('d: str = "cuda"\nseek(d)', Via.VARIABLE),
    "unpacked": ('d, e = "cuda", 1\nseek(d)', Via.VARIABLE),
    "closure": ('d = "cuda"\ndef f():\n    seek(d)', Via.VARIABLE),
    "loop over literals": ('for d in ["cuda"]:\n    seek(d)', Via.VARIABLE),
    "walrus": ('seek(d := "cuda")', Via.LITERAL),
    "default": ('def f(d="cuda"):\n    seek(d)', Via.DEFAULT),
    "keyword-only default": ('def f(*, d="cuda"):\n    seek(d)', Via.DEFAULT),
    "default named": ('D = "cuda"\ndef f(d=D):\n    seek(d)', Via.VARIABLE),
    "lambda default": ('f = lambda d="cuda": seek(d)', Via.DEFAULT),
    "argument": ('def f(d):\n    seek(d)\nf("cuda")', Via.ARGUMENT),
    "keyword argument": ('def f(a, d):\n    seek(d)\nf(1, d="cuda")', Via.ARGUMENT),
    "method's argument": (
        'class A:\n    def f(self, d):\n        seek(d)\nA().f("cuda")',
        Via.ARGUMENT,
    ),
    "constructor's argument": (
        'class A:\n    def __init__(self, d):\n        seek(d)\nA("cuda")',
        Via.ARGUMENT,
    ),
    "static method's argument": (
        'class A:\n    @staticmethod\n    def f(d):\n        seek(d)\nA.f("cuda")',
        Via.ARGUMENT,
    ),
    "attribute": (
        (
            'class A:\n    def __init__(self):\n        self.d = "cuda"\n    def f(self):\n'
            "        seek(self.d)"
        ),
        Via.ATTRIBUTE,
    ),
    "attribute from a default": (
        (
            'class A:\n    def __init__(self, d="cuda"):\n        self.d = d\n'
            "    def f(self):\n        seek(self.d)"
        ),
        Via.DEFAULT,
    ),
    "class attribute": (
        'class A:\n    d = "cuda"\n    def f(self):\n        seek(self.d)',
        Via.ATTRIBUTE,
    ),
    "object's attribute": ('cfg = make()\ncfg.d = "cuda"\nseek(cfg.d)', Via.ATTRIBUTE),
    "dataclass by annotation": (
        '@dataclass\nclass C:\n    d: str = "cuda"\ndef f(c: C):\n    seek(c.d)',
        Via.FIELD,
    ),
    "dataclass by optional": (
        'class C:\n    d: str = "cuda"\ndef f(c: "C | None"):\n    seek(c.d)',
        Via.FIELD,
    ),
    "dataclass by construction": ('class C:\n    d: str = "cuda"\nc = C()\nseek(c.d)', Via.FIELD),
    "dataclass field()": (
        'class C:\n    d: str = field(default="cuda")\nc = C()\nseek(c.d)',
        Via.FIELD,
    ),
    "dataclass factory": (
        'class C:\n    d: str = field(default_factory=lambda: "cuda")\nc = C()\nseek(c.d)',
        Via.FIELD,
    ),
    "pydantic field": (
        'class C:\n    d: str = Field("cuda", description="x")\nc = C()\nseek(c.d)',
        Via.FIELD,
    ),
    "inherited field": (
        'class B:\n    d: str = "cuda"\nclass C(B): ...\nc = C()\nseek(c.d)',
        Via.FIELD,
    ),
    "argparse": (
        'p.add_argument("--dev", default="cuda")\nargs = p.parse_args()\nseek(args.dev)',
        Via.OPTION,
    ),
    "argparse with dashes": (
        'p.add_argument("-d", "--run-dev", default="cuda")\no = p.parse_args()\nseek(o.run_dev)',
        Via.OPTION,
    ),
    "argparse dest": (
        'p.add_argument("--x", dest="dev", default="cuda")\ndef f(args):\n    seek(args.dev)',
        Via.OPTION,
    ),
    "argparse set_defaults": (
        'p.set_defaults(dev="cuda")\nargs = p.parse_args()\nseek(args.dev)',
        Via.OPTION,
    ),
    "absl": ('flags.DEFINE_string("dev", "cuda", "help")\nseek(FLAGS.dev)', Via.OPTION),
    "click": (
        '@click.command()\n@click.option("--dev", default="cuda")\ndef f(dev):\n    seek(dev)',
        Via.OPTION,
    ),
    "typer": ('def f(dev: str = typer.Option("cuda", "--dev")):\n    seek(dev)', Via.OPTION),
    "dict": ('c = {"d": "cuda"}\nseek(c["d"])', Via.CONFIG),
    "dict call": ('c = dict(d="cuda")\nseek(c["d"])', Via.CONFIG),
    "nested dict": ('c = {"a": {"d": "cuda"}}\nseek(c["a"]["d"])', Via.CONFIG),
    "dict item": ('c = {}\nc["d"] = "cuda"\nseek(c["d"])', Via.CONFIG),
    "dict get": ('c = {"d": "cuda"}\nseek(c.get("d"))', Via.CONFIG),
    "get's fallback": ('seek(c.get("d", "cuda"))', Via.CONFIG),
    "pop's fallback": ('def f(**kwargs):\n    seek(kwargs.pop("d", "cuda"))', Via.CONFIG),
    "getattr's fallback": ('seek(getattr(args, "d", "cuda"))', Via.CONFIG),
    "class constant": ('class C:\n    D = "cuda"\nseek(C.D)', Via.ATTRIBUTE),
    "enum": ('class C(Enum):\n    D = "cuda"\nseek(C.D.value)', Via.ATTRIBUTE),
    "list item": ('seek(["cpu", "cuda"][1])', Via.LITERAL),
    "nonlocal": (
        (
            'def f():\n    d = None\n    def g():\n        nonlocal d\n        d = "cuda"\n'
            "    def h():\n        seek(d)"
        ),
        Via.VARIABLE,
    ),
    "omegaconf": ('c = OmegaConf.create({"d": "cuda"})\nseek(c["d"])', Via.CONFIG),
    "environment": ('import os\nseek(os.environ.get("D", "cuda"))', Via.ENVIRONMENT),
    "getenv": ('import os\nseek(os.getenv("D", default="cuda"))', Via.ENVIRONMENT),
    "returned": ('def dev():\n    return "cuda"\nseek(dev())', Via.RETURNED),
    "str": ('seek(str("cuda"))', Via.LITERAL),
    "lower": ('seek("cuda".lower())', Via.LITERAL),
    "device": ('import torch\nseek(torch.device("cuda"))', Via.LITERAL),
    "device by keyword": ('import torch\nseek(torch.device(type="cuda", index=0))', Via.LITERAL),
    "device's type": ('import torch\nd = torch.device("cuda:1")\nseek(d.type)', Via.VARIABLE),
}


@pytest.mark.parametrize(("source", "via"), WAYS.values(), ids=WAYS)
def test_finds_the_constant(source: str, via: Via) -> None:
    """The one constant is found, with the way it came."""
    module, node = seek(source)
    found = [(possible.value, possible.via) for possible in module.value(node)]
    assert [one for one in found if one[0] is not None] == [("cuda", via)]


TEXTS = {
    "f-string": ('seek(f"cuda:{rank}")', [f"cuda:{HOLE}"]),
    "f-string of known parts": ('i = 1\nseek(f"cuda:{i}")', ["cuda:1"]),
    "f-string of two values": ('k = "cuda" if x else "cpu"\nseek(f"{k}:0")', ["cuda:0", "cpu:0"]),
    "f-string with format": ('seek(f"cuda:{rank:02d}")', [f"cuda:{HOLE}"]),
    "plus": ('seek("cuda:" + str(rank))', [f"cuda:{HOLE}"]),
    "plus of constants": ('N = "0"\nseek("cuda:" + N)', ["cuda:0"]),
    "percent": ('seek("cuda:%d" % rank)', [f"cuda:{HOLE}"]),
    "percent of a tuple": ('seek("%s:%d" % (kind, rank))', [f"{HOLE}:{HOLE}"]),
    "format": ('seek("cuda:{}".format(rank))', [f"cuda:{HOLE}"]),
    "format of a variable": ('t = "cuda:{i}"\nseek(t.format(i=rank))', [f"cuda:{HOLE}"]),
    "join": ('seek(":".join(["cuda", str(rank)]))', [f"cuda:{HOLE}"]),
    "implicit": ('seek("cu" "da")', ["cuda"]),
    "ternary": ('seek("cuda" if x else "cpu")', ["cuda", "cpu"]),
    "or": ('seek(x or "cuda")', ["cuda"]),
    "and or": ('seek(x and "cuda" or "cpu")', ["cuda", "cpu"]),
    "branches": ('if x:\n    d = "cuda"\nelse:\n    d = "cpu"\nseek(d)', ["cpu", "cuda"]),
    "overridden": ('d = "cuda"\nd = "cpu"\nseek(d)', ["cpu"]),
    "overridden in a branch": ('d = "cuda"\nif x:\n    d = "cpu"\nseek(d)', ["cpu", "cuda"]),
    "used before": ('def f():\n    d = "cpu"\n    seek(d)\n    d = "cuda"', ["cpu"]),
    "list item by a test": ('seek(["cpu", "cuda"][gpu])', ["cpu", "cuda"]),
    "unknown": ("seek(d)", []),
    "nothing but holes": ('seek(f"{a}{b}")', []),
}


@pytest.mark.parametrize(("source", "texts"), TEXTS.values(), ids=TEXTS)
def test_puts_texts_together(source: str, texts: list[str]) -> None:
    """Strings are put together, with holes for what is not known."""
    module, node = seek(source)
    assert list(module.value(node).strings()) == texts


@pytest.mark.parametrize(
    ("source", "complete"),
    [
        ('d = "cuda"\nseek(d)', True),
        ('d = "cuda" if x else "cpu"\nseek(d)', True),
        ('def f(d="cuda"):\n    seek(d)', False),
        ('d = x or "cuda"\nseek(d)', False),
        ('p.add_argument("--d", default="cuda")\nseek(args.d)', False),
    ],
)
def test_completeness(source: str, complete: bool) -> None:
    """A value is complete only if nothing from outside can reach the expression."""
    module, node = seek(source)
    assert module.value(node).complete is complete


def test_place_of_the_constant() -> None:
    """A possible value names the node where the literal stands."""
    module, node = seek('KIND = "cuda"\nd = KIND\nseek(d)')
    (possible,) = module.value(node)
    assert module.span(possible.node).line == 1


def test_recursion_and_growth_end() -> None:
    """Values that refer to themselves, or multiply, are given up."""
    module, node = seek("def f(d):\n    d = f(d)\n    seek(d)\n    return d")
    assert not module.value(node)
    parts = "".join(f"a{i} = 'x' if y else 'z'\n" for i in range(20))
    text = "".join(f"{{a{i}}}" for i in range(20))
    module = module_of(f"{parts}seek(f'cuda{text}')")
    assert len(module.value(module.index.of(__import__("ast").JoinedStr)[0]).known) == 1
