"""The page of discrepancies: grouped by what differs and in which op, as Markdown and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from op_registry.evidence import place
from op_registry.verify.discrepancies import Discrepancy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.verify.discrepancies import Abort, Inquiry

_TITLES = {
    "count": "Another number of results",
    "shape": "Another shape of a result",
    "dtype": "Another dtype of a result",
    "nan": "NaN in other places",
    "overflow": "Overflow",
    "rounding": "Rounding",
    "values": "Other values",
    "indices": "Indices out of range",
}
"""Kind -> heading, in the order of the page."""
_EDGES = {
    "": "",
    "nan": "a NaN among the elements",
    "infinity": "infinities among the elements",
    "halves": "halves",
    "extremes": "the dtype's largest number among the elements",
    "indices": "an index out of range",
}
"""Edge -> what the call has of it, in words."""
_RAISES = """
try:
    call("cpu")
except Exception as error:
    print("eager PyTorch raises", repr(error))
print("the kernel returns", call("tpu"))
"""
_HOW = "Every entry was seen twice, the second time lowered afresh."
_AT_EDGES = "at the edge: NaN, infinity, halves, the largest numbers, indices out of range."
_LEFT_OUT = "Left out are {} that were not seen again, or whose call could not be made again."
_COMPARES = """
for want, got in zip(tree_leaves(call("cpu")), tree_leaves(call("tpu")), strict=True):
    assert got.shape == want.shape, (got.shape, want.shape)
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    torch.testing.assert_close(got.cpu(), want, equal_nan=True)
"""
_STANDARD = {
    "b64decode": "from base64 import b64decode\n",
    "inf": "from math import inf\n",
    "nan": "from math import nan\n",
}
"""Name that the code may use -> where it comes from."""
_IMPORTS = """\
import torch
import torch_tpu  # registers the device
from torch.utils._pytree import tree_leaves
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Discrepancies of one kind, at one edge, in forms of one op; the smallest first."""

    kind: str
    edge: str
    name: str
    """The op without namespace, overload and the underscores that mark its forms."""
    members: tuple[Discrepancy, ...]

    @property
    def first(self) -> Discrepancy:
        """Return the one that the page shows."""
        return self.members[0]


def groups(inquiry: Inquiry) -> list[Group]:
    """Return the confirmed discrepancies by kind and op, in the order of the page."""
    found: dict[tuple[str, str, str], list[Discrepancy]] = {}
    for one in inquiry.confirmed:
        found.setdefault((one.kind, _name(one.op), one.edge), []).append(one)
    order = list(_TITLES)
    return [
        Group(
            kind=kind,
            edge=edge,
            name=name,
            members=tuple(sorted(found[kind, name, edge], key=_size)),
        )
        for kind, name, edge in sorted(found, key=lambda key: (order.index(key[0]), key[1:]))
    ]


def reproducer(one: Discrepancy) -> str:
    """Return a program that fails where the kernel disagrees, to be run on a TPU host."""
    standard = "".join(line for name, line in _STANDARD.items() if name in one.code)
    checks = _RAISES if one.raises else _COMPARES
    return f"{standard}\n{_IMPORTS}\n\n{one.code}\n{checks}".lstrip()


def as_json(inquiry: Inquiry, versions: Mapping[str, str]) -> str:
    """Return the page as JSON."""
    found = groups(inquiry)
    plain: dict[str, Any] = {
        "versions": dict(sorted(versions.items())),
        "confirmed": len(inquiry.confirmed),
        "calls_at_the_edge": inquiry.edges,
        "dropped": [
            {"op": suspect.op, "dtype": suspect.dtype, "kind": suspect.kind, "why": why}
            for suspect, why in inquiry.dropped
        ],
        "aborts": [asdict(abort) for abort in inquiry.aborts],
        "groups": [
            {
                "kind": group.kind,
                "edge": group.edge,
                "name": group.name,
                "reproducer": reproducer(group.first),
                "discrepancies": [asdict(member) for member in group.members],
            }
            for group in found
        ],
    }
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def as_markdown(inquiry: Inquiry, versions: Mapping[str, str]) -> str:
    """Return the page as Markdown."""
    found = groups(inquiry)
    made = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    lines = [
        "# Kernels that disagree with eager PyTorch",
        "",
        f"Made with {made}. XLA:CPU ran the kernels' StableHLO, no TPU. {_HOW}",
        "",
        f"{inquiry.edges:,} calls were made {_AT_EDGES}",
        "",
        f"{len(inquiry.confirmed)} disagreements (op, dtype and kind) in {len(found)} groups. "
        + _LEFT_OUT.format(len(inquiry.dropped)),
        "",
    ]
    for kind, title in _TITLES.items():
        of_kind = [group for group in found if group.kind == kind]
        if of_kind:
            lines += [f"## {title}", ""]
            for group in of_kind:
                lines += _entry(group)
    if inquiry.aborts:
        lines += ["## The process ends", "", *map(_ended, inquiry.aborts), ""]
    return "\n".join(lines)


def _ended(abort: Abort) -> str:
    call = json.dumps({**abort.arguments, **abort.tensors}, ensure_ascii=False)
    where = f"`{abort.op}` ({', '.join(abort.dtypes)}), {abort.samples} samples"
    return f"- {where}: {abort.message}. The smallest call: `{call}`"


def _entry(group: Group) -> list[str]:
    first = group.first
    by_op: dict[str, list[str]] = {}
    for member in group.members:
        by_op.setdefault(member.op, []).append(member.dtype)
    forms = [f"`{op}` ({', '.join(sorted(by_op[op], key=place))})" for op in sorted(by_op)]
    given = json.dumps(first.arguments, ensure_ascii=False)
    shuffled = "so do its elements in another order" if first.shuffled else "its place matters"
    return [
        f"### {group.name}" + (f": {_EDGES[group.edge]}" if group.edge else ""),
        "",
        f"- Where: {', '.join(forms)}",
        f"- Got and expected: {_outcome(first)}",
        f"- Call: `{first.op}` at {first.dtype}, arguments `{given}`; {shuffled}",
        "",
        "```python",
        reproducer(first).rstrip(),
        "```",
        "",
    ]


def _outcome(one: Discrepancy) -> str:
    return f"{one.message}; eager PyTorch raises `{one.raises}`" if one.raises else one.message


def _name(op: str) -> str:
    return op.split(".")[1].strip("_")


def _size(one: Discrepancy) -> tuple[int, tuple[int, str], str]:
    return (len(one.code), place(one.dtype), one.op)


REPORTS: Mapping[str, Callable[[Inquiry, Mapping[str, str]], str]] = {
    ".md": as_markdown,
    ".json": as_json,
}
"""Suffix of a report's file -> what writes it."""
