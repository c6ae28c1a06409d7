import io
import os
import tempfile

import torch


def save(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)


def load(path, model, optimizer=None, map_location=None):
    if map_location is None:
        map_location = "cuda:0" if torch.cuda.is_available() else "cpu"
    state = torch.load(path, map_location=map_location, weights_only=True)
    model.load_state_dict(state["model"])
    if optimizer is not None:
        optimizer.load_state_dict(state["optimizer"])
    return state["step"]


def main():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(5)
    model = torch.nn.Linear(3, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 3).to(device)).sum().backward()
    optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pt")
        save(path, model, optimizer, step=1)
        again = torch.nn.Linear(3, 3).to(device)
        step = load(path, again)
    out = again(torch.ones(1, 3, device=device))
    print(step, tuple(out.shape), sorted(again.state_dict()))


if __name__ == "__main__":
    main()
