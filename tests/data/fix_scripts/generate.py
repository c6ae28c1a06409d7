import math

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(d // self.heads)
        att = att.masked_fill(mask[:t, :t] == 0, float('-inf')).softmax(-1)
        return x + self.out((att @ v).transpose(1, 2).reshape(b, t, d))


class LM(nn.Module):
    def __init__(self, vocab=50, dim=16, context=12):
        super().__init__()
        self.context = context
        self.emb = nn.Embedding(vocab, dim)
        self.block = Block(dim, 2)
        self.register_buffer('mask', torch.tril(torch.ones(context, context)))

    def forward(self, idx):
        return F.linear(self.block(self.emb(idx), self.mask), self.emb.weight)

    @torch.no_grad()
    def generate(self, idx, new_tokens, temperature=1.0):
        for _ in range(new_tokens):
            logits = self(idx[:, -self.context:])[:, -1] / temperature
            idx = torch.cat([idx, logits.argmax(-1, keepdim=True)], dim=1)
        return idx


torch.manual_seed(42)
if torch.cuda.is_available(): torch.cuda.manual_seed(42)
model = LM().to(DEVICE).eval()
prompt = torch.tensor([[1, 2, 3]], device=DEVICE)
tokens = model.generate(prompt, new_tokens=6)
print(tuple(tokens.shape), tokens[0, :3].tolist())
