"""Log memory around a step."""
import gc
import logging
import sys

import torch

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("memory")
MB = 2 ** 20


class MemoryTracker(object):
    def __enter__(self):
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        return self

    def __exit__(self, *exc):
        if torch.cuda.is_available():
            peak = torch.cuda.max_memory_allocated() / MB
            log.debug("allocated %.1f MB, peak %.1f MB", torch.cuda.memory_allocated() / MB, peak)
        else:
            log.info("no accelerator")


use_cuda = torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")
torch.manual_seed(0)
with MemoryTracker():
    model = torch.nn.GRU(8, 8, batch_first=True)
    if use_cuda:
        model = model.cuda()
    y, _ = model(torch.randn(2, 4, 8).to(device))
log.info("output %s", tuple(y.shape))
torch.cuda.empty_cache()
