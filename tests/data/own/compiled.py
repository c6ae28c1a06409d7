"""Small programs, each with one thing that decides how torch.compile takes it."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import nn

Inputs = tuple[torch.Tensor]


class Clean(nn.Module):
    """Nothing in the way."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def linear(self, x: torch.Tensor) -> torch.Tensor:
        """Run the one layer."""
        return F.linear(x, self.inner.weight, self.inner.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        return torch.relu(self.linear(x)) + 1


class Item(Clean):
    """Python asks for a value."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        y = self.linear(x)
        if y.sum().item() > 0:  # here
            y = y + 1
        return torch.relu(y)


class Known(Clean):
    """Python asks for a value that follows from the inputs."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        y = self.linear(x)
        count = torch.arange(3, device=x.device).max().item()  # here
        return y * count


class Shape(Clean):
    """A size depends on data."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        y = self.linear(x)
        rows = y.sum(-1).nonzero()  # here
        return y[rows[:, 0]] * 2


class Prints(Clean):
    """A call that Dynamo does not follow."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        y = self.linear(x)
        print("seen")  # noqa: T201 - here
        return torch.relu(y)


class Outer(nn.Module):
    """Two layers with a break in each, called in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Item(), Item()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        for layer in self.layers:
            x = layer(x)
        return x


class Many(nn.Module):
    """More layers than Dynamo compiles one function for: each has a number of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Numbered(i) for i in range(10)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        for layer in self.layers:
            x = layer(x)
        return x


class Numbered(nn.Module):
    """Breaks, and computes with its own number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        x = x + self.number
        print(self.number)  # noqa: T201 - the break
        return x * self.number


class Growing(Clean):
    """Keeps all that it has seen in a tensor that grows."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        y = self.linear(x)
        self.seen = y if self.seen is None else torch.cat([self.seen, y])
        return self.seen.sum(0)


class Static(Clean):
    """Keeps all that it has seen in a buffer of fixed shape, at a position on the device."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.Buffer(torch.zeros(64, 4))
        self.position = nn.Buffer(torch.zeros(1, dtype=torch.long))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        self.seen.index_copy_(0, self.position, self.linear(x))
        self.position.add_(1)
        return self.seen.sum(0)


class Counting(Clean):
    """Computes with a counter in Python."""

    calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        self.calls += 1
        return self.linear(x) * self.calls


def _rows(count: int = 2) -> Inputs:
    return (torch.zeros(count, 4),)


def clean() -> tuple[nn.Module, Inputs]:
    """One graph."""
    return Clean(), _rows()


def item() -> tuple[nn.Module, Inputs]:
    """Two graphs."""
    return Item(), _rows()


def known() -> tuple[nn.Module, Inputs]:
    """Two graphs, although the value is known."""
    return Known(), _rows()


def shape() -> tuple[nn.Module, Inputs]:
    """Two graphs."""
    return Shape(), _rows()


def prints() -> tuple[nn.Module, Inputs]:
    """Two graphs."""
    return Prints(), _rows()


def outer() -> tuple[nn.Module, Inputs]:
    """Leave the loop to Python."""
    return Outer(), _rows()


def many() -> tuple[nn.Module, Inputs]:
    """Over the recompile limit."""
    return Many(), _rows()


def growing() -> tuple[nn.Module, Inputs]:
    """Compiles anew in each call."""
    return Growing(), _rows(1)


def static() -> tuple[nn.Module, Inputs]:
    """Compiles once."""
    return Static(), _rows(1)


def counting() -> tuple[nn.Module, Inputs]:
    """Compiles anew in each call."""
    return Counting(), _rows()


def step() -> object:
    """Make a training step."""
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.zeros(2, 4)

    def one() -> torch.Tensor:
        loss: torch.Tensor = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return one


class Pools(nn.Module):
    """A function of torch's that torch_tpu replaces in Python."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        return F.max_pool1d(x[None], 2) + 1


def pools() -> tuple[nn.Module, Inputs]:
    """One graph."""
    return Pools(), _rows()


class Loop(Clean):
    """Asks for a value in a loop of its own."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        for _ in range(2):
            x = self.linear(x)
            x = x * x.max().item()
        return x


def loop() -> tuple[nn.Module, Inputs]:
    """Leave all of it to Python."""
    return Loop(), _rows()
