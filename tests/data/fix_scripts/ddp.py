#!/usr/bin/env python
# torchrun --nproc_per_node=8 ddp.py
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def setup():
    rank = int(os.environ.get("RANK", 0))
    world_size = int(os.environ.get("WORLD_SIZE", 1))
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend=backend, rank=rank, world_size=world_size)
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank)
        device = torch.device("cuda", local_rank)
    else:
        device = torch.device("cpu")
    return rank, world_size, local_rank, device


def main():
    rank, world_size, local_rank, device = setup()
    torch.manual_seed(7)
    model = torch.nn.Linear(8, 2).to(device)
    if world_size > 1:
        model = DDP(
            model,
            device_ids=[local_rank],  # one device a process
            output_device=local_rank,
        )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        loss = model(torch.ones(4, 8, device=device)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(step, round(loss.item(), 5))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
