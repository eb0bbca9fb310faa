#!/usr/bin/env python3
"""A transformer of the size of GPT-2 (124 M parameters) in PyTorch, trained with AdamW in bfloat16.

    hbmscope run --emulate a100-40,h100 --sweep batch=8,16,32,64 -- python samples/dry_run/torch_gpt.py --batch {batch}
    hbmscope run --emulate rtx4090 --sweep batch=1..64 --largest batch -- python samples/dry_run/torch_gpt.py --batch {batch}
"""

import argparse

import torch
from torch import nn
from torch.nn import functional

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--batch", type=int, default=8)
options.add_argument("--steps", type=int, default=3)
options = options.parse_args()

WIDTH, LAYERS, HEADS, VOCABULARY, TOKENS = 768, 12, 12, 50304, 1024


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_hidden = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query_key_value, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.hidden = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, tokens, _ = x.shape
        parts = self.query_key_value(self.before_attention(x)).chunk(3, -1)
        query, key, value = (part.view(batch, tokens, HEADS, -1).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))
        return x + self.hidden(self.before_hidden(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.out = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.position(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def train_step(model, optimizer, tokens):
    with torch.autocast("cuda", torch.bfloat16):
        logits = model(tokens)
        loss = functional.cross_entropy(logits.view(-1, VOCABULARY), tokens.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


model = Transformer().cuda()
optimizer = torch.optim.AdamW(model.parameters(), 3e-4)
for _ in range(options.steps):
    train_step(model, optimizer, torch.zeros((options.batch, TOKENS), dtype=torch.long, device="cuda"))
