import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

activities = [ProfilerActivity.CPU]
if torch.cuda.is_available():
    activities += [ProfilerActivity.CUDA]


def timed(fn, *args, repeat=3):
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeat):
        out = fn(*args)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return out, (time.perf_counter() - start) / repeat


def main():
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True).to(device)
    x = torch.zeros(2, 5, 16).to(device)
    with profile(activities=activities, record_shapes=True) as prof:
        with record_function("forward"):
            out, seconds = timed(layer, x)
    names = {event.key for event in prof.key_averages()}
    print(tuple(out.shape), seconds > 0, "forward" in names)


if __name__ == '__main__':
    main()
