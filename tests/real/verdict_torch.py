"""Programs for verdict_test.py: python verdict_torch.py NAME. Each is one that a dry run judges wrongly unless it says so."""

import sys

import torch
from torch import nn
from torch.nn import functional

WIDTH, TOKENS, VOCABULARY = 256, 512, 1000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer, self.norm = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        return x + self.outer(functional.gelu(self.inner(self.norm(x))))


class Experts(nn.Module):
    """Sends each token to one of four experts, which get as many as come."""

    def __init__(self):
        super().__init__()
        self.router, self.experts = nn.Linear(WIDTH, 4), nn.ModuleList(Block() for _ in range(4))

    def forward(self, x):
        chosen = self.router(x).argmax(-1)
        result = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            places = (chosen == number).nonzero().flatten()  # nonzero of experts
            result[places] = expert(x[places])
        return result


def model_of(*blocks):
    return nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), *blocks, nn.Linear(WIDTH, VOCABULARY)).cuda()


def loss_of(model):
    tokens = torch.randint(0, VOCABULARY, (TOKENS,)).cuda()
    return functional.cross_entropy(model(tokens), tokens)


def gpt():
    model = model_of(*(Block() for _ in range(4)))
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(10):
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(step, loss.item())  # item of gpt
    print("pool", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


def experts():
    model = model_of(Experts())
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        loss_of(model).backward()
        optimizer.step()
        optimizer.zero_grad()


def stops_early():
    model = model_of(Block())
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(100):
        loss = loss_of(model)
        if loss.item() < 0.01:  # item of stops_early
            break
        loss.backward()
        optimizer.step()


def generates():
    model = model_of(Block()).eval()
    tokens = torch.randint(0, VOCABULARY, (1,)).cuda()
    with torch.no_grad():
        for _ in range(20):
            last = model(tokens)[-1].argmax()
            tokens = torch.cat([tokens, last[None]])
            if last == 7:  # bool of generates
                break


def resets():
    big = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    del big
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.empty(64 << 20, dtype=torch.uint8, device="cuda")


def scales():
    model = model_of(Block())
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(3):
        with torch.autocast("cuda", torch.float16):
            loss = loss_of(model)
        scaler.scale(loss).backward()
        scaler.step(optimizer)  # step of scales
        scaler.update()  # update of scales
        optimizer.zero_grad()


def infers():
    model = model_of(Block()).eval()
    with torch.no_grad():
        model(torch.randint(0, VOCABULARY, (TOKENS,)).cuda()).cpu()


def trains_by_flag():
    """As a trainer that reads on the device whether it shall train."""
    model = model_of(Block())
    optimizer = torch.optim.AdamW(model.parameters())
    flags = torch.tensor([1, 1, 0], device="cuda")
    if flags[0].item():
        loss_of(model).backward()
        optimizer.step()
    if flags[2].item():
        torch.empty(1 << 36, device="cuda")


def overwrites():
    """What a large operation has written over a known value is unknown."""
    count = torch.ones(1, device="cuda")
    count += torch.randn(4096, 4096, device="cuda").sum()
    print(count.item())  # item of overwrites


if __name__ == "__main__":
    globals()[sys.argv[1]]()
