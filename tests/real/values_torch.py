"""What is known on an emulated device is what the CPU computes; a program's requests are the same without it.

    values_torch.py values          compares expressions on both
    values_torch.py requests NAME   prints the requests of a program of verdict_torch.py, as one number
"""

import hashlib
import sys

import torch

import verdict_torch

EXPRESSIONS = """
x[3].item() | (x == x).all().item() | x[2:5] | x[x > 4] | x.masked_select(x > 4) | (x > 4).nonzero() | x.unique() | (x // 3).unique(return_counts=True)
torch.repeat_interleave(x % 4) | torch.repeat_interleave(x, x % 3) | torch.bincount(x % 3) | torch.nn.functional.one_hot(x % 3) | x.cumsum(0) | x.float().mean()
torch.where(x > 5, x, -x) | torch.where(x > 5, 1, 0) | torch.where(x > 5, x, 1.5) | 2**x | x**2 | x % 3 | 7 // (x + 1) | x.sort(descending=True) | x.flip(0).argmax()
torch.cat([x, x + 1]) | torch.stack([x, x]).sum(0) | x.index_select(0, x[:2]) | x.gather(0, x.flip(0)) | torch.zeros_like(x).scatter_(0, x, x * 2) | x.float().std()
torch.linspace(0, 1, 5, device=x.device) | torch.full((3,), 7, device=x.device) | torch.isin(x, x[:3]) | torch.isin(3, x) | x.clamp(2, 5) | x.view(2, 5).t().contiguous()
x.split((x[:1] + 5).tolist() * 2) | torch.equal(x, x.clone()) | torch.allclose(x.float(), x.float()) | x.to(torch.int32).add(1).tolist() | x.half().mul(0.5)
torch.searchsorted(x, x[:4]) | torch.tril(x.view(2, 5)) | x.new_zeros(4).index_put((x[:2],), x[5:7]) | torch.histc(x.float(), 5, 0, 10) | x.roll(2) | x.amax() | x.diff()
torch.unique_consecutive(x // 4) | x.logical_not() | (x & 1).bool() | x.eq(3).any() | x.max(0) | x.view(2, 5).min(1) | x.topk(3) | ~(x > 2) | x.lt(4).float().sum()
"""


def changed(x):
    """In place, part by part."""
    y = torch.empty(4, 5, device=x.device, dtype=torch.int64)
    y.fill_(1)
    y[1] = 7
    y[:, 2] += 1
    y[y > 6] = 0
    y[2, :3].copy_(x[:3])
    y[3].zero_()
    return y.masked_fill_(y == 2, -1)


def plain(value):
    if isinstance(value, torch.Tensor):
        return str(value.dtype), value.tolist()
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def kept_boxes(unknown):
    """An operation of another library, whose kernels write what it makes with PyTorch's."""
    try:
        from torchvision.ops import nms
    except (ImportError, ValueError):
        return print("without torchvision")
    boxes = torch.rand(1000, 4, generator=torch.Generator().manual_seed(3)) * 100
    boxes[:, 2:] += boxes[:, :2] + 1
    scores = boxes[:, 0] % 1
    assert nms(boxes.cuda(), scores.cuda(), 0.7).tolist() == nms(boxes, scores, 0.7).tolist()
    assert 256 <= len(nms(unknown[:, :4], unknown[:, 4], 0.7)) <= 512


def written_by_kernels():
    """No kernel runs: what one writes is unknown from then on, what it reads is as known as before."""
    try:
        import triton
        import values_triton
    except ImportError:
        return print("without triton")
    ones, sums = torch.ones(64, dtype=torch.int64, device="cuda"), torch.zeros(64, dtype=torch.int64, device="cuda")
    values_triton.add_up[(1,)](ones, sums, 64, BLOCK=64)
    assert ones.sum().item() == 64
    assert len(sums.nonzero()) == 32, "half of them, as of every unknown mask"
    counter = torch.zeros(64, dtype=torch.int64, device="cuda")

    @torch.compile
    def count(counter, ones):
        counter.add_(ones)

    count(counter, ones)
    assert ones.sum().item() == 64 and len(counter.nonzero()) == 32
    print("kernels of triton", triton.__version__)


def factorised():
    """Batches go through other functions of cuBLAS and cuSOLVER than single matrices."""
    for batch in (torch.randn(32, 16, 16, device="cuda"), torch.randn(8, 200, 100, device="cuda", dtype=torch.complex64)):
        of = torch.linalg
        of.svd(batch), of.svdvals(batch), of.eigh(batch.mT @ batch), of.qr(batch), of.lstsq(batch, batch), of.pinv(batch), of.matrix_rank(batch)


def values():
    expressions = [one.strip() for line in EXPRESSIONS.strip().splitlines() for one in line.split("|")]
    x = {device: torch.arange(10, device=device) for device in ("cpu", "cuda")}
    for expression in expressions + ["changed(x)"]:
        cpu, cuda = (plain(eval(expression, globals(), {"x": x[device]})) for device in ("cpu", "cuda"))
        assert cpu == cuda or str(cpu) == str(cuda), (expression, cpu, cuda)
    # What no kernel computed is plausible.
    unknown = torch.randn(512, 1024, device="cuda")
    assert (unknown == unknown).all() and torch.isfinite(unknown).all() and not torch.isnan(unknown).any()
    assert 0 < unknown.sum().item() < 10 and torch.isfinite(unknown[0].cpu()).all()
    chosen = unknown.topk(4)[1].tolist()
    assert all(len(set(row)) == 4 for row in chosen) and len({row[0] for row in chosen}) > 100
    mask = unknown.argmax(-1) % 8 == 3
    assert len(mask.nonzero()) == mask.sum().item() and 20 < mask.sum().item() < 120
    # Of a choice, what is chosen is known, and floats lie between the bounds that programs write down.
    finished = torch.zeros(64, device="cuda", dtype=torch.bool)
    finished[3] = True
    assert torch.where(finished & ~finished, unknown[0, :64], 5.0).tolist() == [5.0] * 64
    worst = torch.where(finished, unknown[0, :64], -1e9)
    assert [at for at, one in enumerate((unknown[1, :64] > worst).tolist()) if not one] in ([], [3])
    assert not (unknown[1, :3] < worst[:3]).any() and (unknown[1, :8] > -1e9).all() and not (unknown[1, :8] >= 1e9).any()
    kept_boxes(unknown)
    written_by_kernels()
    factorised()
    # Drawn in place, and changed in place by an operation that has no other form here.
    drawn = torch.zeros(1000, device="cuda").uniform_()
    assert 400 < (drawn > 0.5).sum().item() < 600 and 0 <= drawn.min().item() and drawn.max().item() <= 1
    assert torch.full((3,), -2.0, device="cuda").relu_().tolist() == [0, 0, 0]
    assert x["cuda"].float().sub_(20).sigmoid_().max().item() < 0.001
    torch.distributions.Normal(unknown[0].abs(), unknown[1].exp()).sample()
    print(len(expressions), "expressions")


def requests(name):
    torch.cuda.memory._record_memory_history(max_entries=1_000_000, context=None)
    getattr(verdict_torch, name)()
    events = [(event["action"], event["size"], event["addr"]) for trace in torch.cuda.memory._snapshot()["device_traces"] for event in trace]
    print("requests", len(events), hashlib.sha256(repr(events).encode()).hexdigest())


if __name__ == "__main__":
    requests(sys.argv[2]) if sys.argv[1] == "requests" else values()
