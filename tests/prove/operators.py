"""Peak memory of single operators, measured as Liger's benchmarks measure it: ten times forward and backward, the median of
torch.cuda.max_memory_allocated().

    operators.py OPERATOR SETTINGS      prints a line for each value of `x` in the JSON: measured X MIB
"""

import json
import statistics
import sys

import torch
from torch import nn

DEVICE = "cuda"
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class LlamaNorm(nn.Module):
    """As in transformers: the mean square in float32."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class LlamaMlp(nn.Module):
    def __init__(self, width, inner, activation):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False), nn.Linear(inner, width, bias=False)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))


def random(*shape, kind=torch.float32, needs_grad=True):
    return torch.randn(*shape, device=DEVICE, dtype=kind, requires_grad=needs_grad)


def loss_of_tokens(x, tokens, **_):
    scores, chosen = random(tokens, x), torch.randint(x, (tokens, 1), device=DEVICE).squeeze(1)
    loss = nn.CrossEntropyLoss()
    return lambda: loss(scores, chosen)


# The benchmarks of norms also make the layer that they compare with.


def layer_norm(x, rows, kind, **_):
    inputs, layers = random(rows, x, kind=kind), [nn.LayerNorm(x, eps=1e-6).to(DEVICE).to(kind) for _ in range(2)]
    return lambda: layers[0](inputs)


def rms_norm(x, rows, kind, **_):
    inputs, layers = random(rows, x, kind=kind), [LlamaNorm(x).to(DEVICE) for _ in range(2)]
    return lambda: layers[0](inputs)


def gated(x, batch, width, inner, kind, activation, **_):
    inputs = random(batch, x, width, kind=kind)
    layer = LlamaMlp(width, inner, activation).to(DEVICE).to(kind)
    return lambda: layer(inputs)


def geglu(**settings):
    return gated(activation=nn.GELU(approximate="tanh"), **settings)


def swiglu(**settings):
    return gated(activation=nn.SiLU(), **settings)


def kl_div(x, tokens, **_):
    inputs, target = random(tokens, x).log_softmax(dim=-1), random(tokens, x, needs_grad=False).softmax(dim=-1)
    loss = nn.KLDivLoss(reduction="batchmean")
    return lambda: loss(inputs, target)


def jsd(x, tokens, **_):
    log_q, log_p = random(tokens, x).log_softmax(dim=-1), random(tokens, x, needs_grad=False).log_softmax(dim=-1)
    divergence = nn.KLDivLoss(reduction="none", log_target=True)

    def run():
        p, q = log_p.to(torch.float).view(-1, x), log_q.to(torch.float).view(-1, x)
        middle = torch.lerp(torch.exp(q), torch.exp(p), 0.5)
        loss = 0.5 * divergence(torch.log(middle), p).sum(dim=-1) + 0.5 * divergence(torch.log(middle), q).sum(dim=-1)
        return (loss / tokens).sum().to(torch.float)

    return run


def tvd(x, tokens, **_):
    p, q = random(tokens, x).softmax(dim=-1), random(tokens, x, needs_grad=False).softmax(dim=-1)
    return lambda: torch.sum(torch.abs(p - q) / 2.0) / p.size(0)


def group_norm(x, batch, inner, of_group, **_):
    inputs, layers = random(batch, x, inner), [nn.GroupNorm(x // of_group, x, eps=1e-6).to(DEVICE) for _ in range(2)]
    return lambda: layers[0](inputs)


class Whole:
    """Forward and backward as that benchmark runs them."""

    def __init__(self, run):
        self.run = run


def megatron_swiglu(x, length, batch, **_):
    inputs = random(length, batch, 2 * x, kind=torch.bfloat16)

    def run():
        inputs.grad = None
        one, other = torch.chunk(inputs, 2, -1)
        result = nn.functional.silu(one) * other
        result.sum().backward()

    return Whole(run)


def megatron_rms_norm(x, rows, **_):
    inputs, layer = random(rows, 1, x, kind=torch.bfloat16), nn.RMSNorm(x, eps=1e-6, device=DEVICE, dtype=torch.bfloat16)

    def run():
        result = layer(inputs)
        result.sum().backward()

    return Whole(run)


def fused_add_rms_norm(x, rows, **_):
    """The weights of the two layers that it is compared with are there, too."""
    weight, _others = nn.Parameter(torch.ones(x, device=DEVICE)), [torch.ones(x, device=DEVICE) for _ in range(3)]
    inputs = [random(rows, x, needs_grad=False) for _ in range(2)]
    gradients = [torch.randn_like(one) for one in inputs]
    for one in inputs:
        one.requires_grad_(True)

    def forward(_kept=_others):
        both = inputs[0] + inputs[1]
        return weight * (both * torch.rsqrt(both.pow(2).mean(-1, keepdim=True) + 1e-6)), both

    def run():
        results = forward()
        torch.autograd.backward(results, gradients)

    return Whole(run)


def peak_of(forward, kind):
    """`kind`: the gradient of the result is made once, before, of this type. None: it is made each time."""
    gradient = torch.randn_like(forward(), dtype=kind) if kind else None

    def full():
        if isinstance(forward, Whole):
            return forward.run()
        result = forward()
        if result.dim() == 0:
            result.backward(retain_graph=True)
        else:
            result.backward(torch.randn_like(result) if gradient is None else gradient, retain_graph=True)

    peaks = []
    for _ in range(10):
        torch.cuda.memory.reset_peak_memory_stats()
        full()
        peaks.append(torch.cuda.max_memory_allocated() / 2**20)
    return statistics.median(peaks)


def main():
    operator, settings = sys.argv[1], json.loads(sys.argv[2])
    if "kind" in settings:
        settings["kind"] = TYPES[settings["kind"]]
    gradient = TYPES.get(settings.pop("gradient", None))
    for x in settings.pop("x"):
        print("measured", x, peak_of(globals()[operator](x=x, **settings), gradient), flush=True)


if __name__ == "__main__":
    main()
