"""Plausible values of PyTorch's small tensors that nothing has computed (hbmscope_values.py): an index is any index,
floats are finite and random, a loss falls slowly. HBMSCOPE_VALUES=worst: an index is one of the first.
"""

import math
import os

UNKNOWN, ASSUMED, KNOWN = 0, 1, 2
ELEMENTS_MAX = 1 << 23

torch = None
generator = None  # One seed for all.
states_of_elements = on_cpu = None  # Of hbmscope_values.
_is_worst = os.environ.get("HBMSCOPE_VALUES") == "worst"
_losses = 0


def _draw(count, shape):
    if _is_worst:
        return torch.zeros(shape, dtype=torch.int64)
    return torch.randint(max(1, count), shape, generator=generator)


def _some_of_each(count, shape, dim):
    """Different ones in each row, as of topk."""
    row = shape[dim]
    rows = math.prod(shape) // max(1, row)
    if _is_worst or rows * count > ELEMENTS_MAX:
        chosen = torch.arange(row).expand(rows, row)
    else:
        chosen = torch.rand(rows, count, generator=generator).argsort(dim=1)[:, :row]
    moved = [size for at, size in enumerate(shape) if at != dim % len(shape)] + [row]
    return chosen.reshape(moved).movedim(-1, dim)


def _argument(op, args, kwargs, name, default=None):
    for at, argument in enumerate(op._schema.arguments):
        if argument.name == name:
            return args[at] if at < len(args) else kwargs.get(name, default)
    return default


def is_same(a, b):
    return a.data_ptr() == b.data_ptr() and a.shape == b.shape and a.stride() == b.stride() and a.dtype == b.dtype


def _compared_with_bounds(name, other, result):
    """Floats that nothing has computed lie between the bounds that programs write down: -1e9, finfo.min."""
    if not isinstance(other, torch.Tensor):
        bounds = torch.full((), float(other), dtype=torch.float64)
        states = torch.full((), KNOWN)
    else:
        if math.prod(other.shape) > ELEMENTS_MAX or other.dtype == torch.bool:
            return None
        states = states_of_elements(other)
        bounds = on_cpu(other).double() if int(states.max()) != UNKNOWN else torch.zeros(other.shape)
    is_bound = (states != UNKNOWN) & (bounds.abs() >= 1e4)
    if not bool(is_bound.any()):
        return None
    is_below = bounds < 0  # The bound is below the float.
    values = torch.where(is_bound, is_below if name in ("gt", "ge") else ~is_below, torch.rand(bounds.shape, generator=generator) < 0.5)
    return values.expand(result.shape).clone() if values.shape != result.shape else values


def guess(name, op, args, kwargs, result):
    """A plausible result and its state, or None: it stays unknown."""
    first = args[0] if args and isinstance(args[0], torch.Tensor) else None
    dim = _argument(op, args, kwargs, "dim")
    if name in ("eq", "ne", "lt", "le", "gt", "ge") and len(args) > 1:
        other = args[1]
        if isinstance(other, torch.Tensor) and is_same(first, other):
            return torch.full(result.shape, name in ("eq", "le", "ge")), KNOWN
        if isinstance(other, float) and math.isinf(other) and first.is_floating_point():
            return torch.full(result.shape, name == "ne" or (name in ("lt", "le")) == (other > 0) and name != "eq"), KNOWN
        if name in ("eq", "ne") and first.is_floating_point():
            return torch.full(result.shape, name == "ne"), ASSUMED
        if name in ("lt", "le", "gt", "ge") and first.is_floating_point() and isinstance(other, (torch.Tensor, int, float)):
            values = _compared_with_bounds(name, other, result)
            if values is not None:
                return values, ASSUMED
        if result.dim() == 0 and name in ("lt", "le", "gt", "ge") and isinstance(other, (int, float)):
            return (plausible_floats((), torch.float64) > other) ^ (name in ("lt", "le")), ASSUMED
        return None
    if name in ("isnan", "isinf"):
        return torch.zeros(result.shape, dtype=torch.bool), KNOWN  # Of floats that nothing has computed.
    if name in ("any", "all"):
        return torch.full(result.shape, name == "all"), ASSUMED
    if name in ("argmax", "argmin"):
        return _draw(first.numel() if dim is None else first.shape[dim], result.shape), ASSUMED
    if name in ("max", "min") and isinstance(result, tuple) and isinstance(dim, int) and first.dim() > 0:
        return [None, _draw(first.shape[dim], result[1].shape)], ASSUMED
    if name in ("topk", "sort") and first.dim() > 0:
        dim = -1 if dim is None else dim
        return [None, _some_of_each(first.shape[dim], list(result[1].shape), dim)], ASSUMED
    if name == "multinomial":
        return _some_of_each(first.shape[-1], list(result.shape), -1), ASSUMED
    return None


def next_loss():
    """It falls faster in the end, for programs that wait until it is small."""
    global _losses
    _losses += 1
    return max(2.5 / (1 + 0.01 * _losses) * 0.99 ** max(0, _losses - 1000), 1e-6)


def plausible_floats(shape, dtype):
    """A single number is most often a loss."""
    if math.prod(shape) != 1:
        return torch.randn(shape, generator=generator, dtype=torch.float32).to(dtype)
    return torch.full(shape, next_loss()).to(dtype)
