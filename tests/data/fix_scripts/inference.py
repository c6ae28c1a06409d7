import argparse

import torch
from torch import nn


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", help="where to run")
    parser.add_argument("--batch-size", type=int, default=4)
    return parser.parse_args()


@torch.inference_mode()
def run(model, batches, device):
    model.eval()
    found = []
    for batch in batches:
        found.append(model(batch.to(device)).argmax(dim=-1).cpu())
    return torch.cat(found)


def main():
    args = parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
    model.to(args.device)
    images = torch.randn(8, 3, 8, 8)
    labels = run(model, images.split(args.batch_size), args.device)
    print(tuple(labels.shape), labels.dtype)


main()
