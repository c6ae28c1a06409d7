import torch
import torch.distributed as dist
from transformers import AutoModel

dist.init_process_group("nccl")
model = AutoModel.from_pretrained(".", trust_remote_code=True).cuda()
scaler = torch.cuda.amp.GradScaler()
