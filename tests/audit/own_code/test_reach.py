"""Which lines loading a model or its forward run."""

from __future__ import annotations

from tpu_audit.audit.own_code.reach import reach_of

MODEL = """\
import torch
from .ops import used

KINDS = {"fast": Fast}
ONES = torch.ones(1)  # import

class Base:
    def helper(self):
        return 1  # base helper

    def spare(self):
        return 2  # base spare

class Fast(Base):
    limit = compute()  # class body

    def forward(self, x):
        return self.helper()  # fast forward

class Unused:
    def forward(self, x):
        return x  # unused forward

class XModel(Base):
    def __init__(self, config: Annotated):
        self.kind = KINDS[config.kind]  # init

    def forward(self, x):
        def inner():
            return x  # inner
        if x.ndim:
            return used(x)  # forward
        return getattr(self, "by_name")()

    def by_name(self):
        return 3  # by name

    def generate(self, x):
        return self.forward(x)  # generate

class Annotated:
    def forward(self):
        return 4  # annotated

try:
    from fast import compute
except ImportError:
    def compute():
        return 5  # compute

if torch.backends.cpu:
    ready()

def ready():
    return 6  # ready

if __name__ == "__main__":
    XModel(None).generate(0)  # main
"""
OPS = "def used(x):\n    return x.cuda()  # used\n\ndef idle(x):\n    return x  # idle\n"


def reached(texts: dict[str, str], *classes: str) -> dict[str, bool]:
    """Return for each comment of the texts whether its line is reached."""
    reach = reach_of(texts, classes)
    return {
        line.partition("  # ")[2]: reach.covers(path, number)
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if "  # " in line
    }


def test_reach() -> None:
    """Import, ``__init__``, forward and what they name run; other methods and programs do not."""
    found = reached({"model.py": MODEL, "ops.py": OPS}, "XModel")
    idle = {"base spare", "unused forward", "generate", "annotated", "idle", "main"}
    assert {comment for comment, runs in found.items() if not runs} == idle
    assert len(found) == 17


def test_nothing_is_wanted() -> None:
    """Without a class of the model only what runs on import is reached."""
    found = reached({"model.py": MODEL, "ops.py": OPS})
    assert not found["forward"]
    assert not found["used"]
    assert found["import"]
    assert found["compute"]
    assert found["fast forward"]  # a table of the module names the class


def test_a_file_that_cannot_be_parsed() -> None:
    """It is taken to run as a whole and to use each of its words."""
    texts = {"model.py": "print 'x'\nused(1)  # old\n", "ops.py": OPS}
    assert reached(texts) == {"old": True, "used": True, "idle": False}


def test_deep_code() -> None:
    """Nesting beyond what Python can take in costs no answer."""
    arms = "if x:\n    pass\n" + "elif x:\n    pass\n" * 4000
    texts = {"a.py": arms, "b.py": "x = " + "(" * 5000, "c.py": "def f():\n    return 1\n"}
    reach = reach_of(texts, ())
    assert reach.covers("a.py", 3)
    assert not reach.covers("c.py", 2)


def test_other_files() -> None:
    """A file that was not given is not known to be idle."""
    assert reach_of({}, ()).covers("elsewhere.py", 1)
