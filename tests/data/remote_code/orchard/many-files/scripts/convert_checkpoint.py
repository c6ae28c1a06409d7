import sys

import torch

state = torch.load(sys.argv[1], map_location="cuda:0")
torch.save({key.removeprefix("module."): value for key, value in state.items()}, sys.argv[2])
