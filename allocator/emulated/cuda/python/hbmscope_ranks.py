"""Small messages between the ranks of a dry run.

NCCL's emulated calls send nothing. Here PyTorch's collectives leave what a rank contributes, if it is small, in the
folder of the run's reports, and what a rank gets is looked up there when somebody asks for its values: nobody waits for
a peer whose values nobody reads. So objects, flags, lengths and norms travel; gradients and weights, which are large,
stay unknown, as do messages between machines.
"""

import functools
import inspect
import os
import pickle
import threading
import time

import hbmscope_imports

BYTES_MAX = 1 << 20
WAIT_S = float(os.environ.get("HBMSCOPE_RANKS_WAIT", "120"))  # For a peer that never comes.

_folder = os.path.join(os.environ.get("HBMSCOPE_DEVICE_REPORT", ""), "ranks")
_counts = {}  # Of messages, by group or by pair of ranks.
_values = None  # The module hbmscope_values.
_pending = {}  # By storage: [weak reference, functions that fill in what has been received].


class _Thread(threading.local):
    how = "SUM"


_thread = _Thread()


def _number(*name):
    _counts[name] = _counts.get(name, -1) + 1
    return _counts[name]


def _leave(name, message):
    os.makedirs(_folder, exist_ok=True)
    path = os.path.join(_folder, name)
    with open(f"{path}.{os.getpid()}", "wb") as file:
        pickle.dump(message, file)
    os.rename(f"{path}.{os.getpid()}", path)


def _fetch(name):
    """None if it never comes."""
    path, until = os.path.join(_folder, name), time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            with open(path, "rb") as file:
                return pickle.load(file)
        except FileNotFoundError:
            time.sleep(0.002)
    return None


def _is_small(tensors):
    return sum(one.numel() * one.element_size() for one in tensors) <= BYTES_MAX


def _content(tensor):
    """Values with what is known of them; of others only that."""
    state = _values._state_of(tensor) if _is_small([tensor]) else _values.UNKNOWN
    return (state, _values._on_cpu(tensor).clone() if state != _values.UNKNOWN else None)


def _receive(tensor, find):
    """`find()` returns the content, when it is wanted."""
    storage = tensor.untyped_storage()
    shape, stride, offset, kind = tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype
    _values._mark(tensor, _values.UNKNOWN)

    def fill(other):
        state, value = find() or (_values.UNKNOWN, None)
        if state == _values.UNKNOWN or other.dtype != kind:
            return
        place = other.as_strided(shape, stride, offset)
        _values._on_cpu(place).copy_(value.reshape(shape))
        _values._mark(place, state)

    known = _pending.get(storage._cdata)
    if known is None or known[0].expired():
        known = _pending[storage._cdata] = [_values._weak(storage), []]
    known[1].append(fill)


def resolve(tensor):
    """What `tensor` has received."""
    known = _pending.pop(tensor.untyped_storage()._cdata, None)
    for fill in known[1] if known is not None and not known[0].expired() else ():
        fill(tensor)


def forget_the_dead():
    for storage in [storage for storage, known in list(_pending.items()) if known[0].expired()]:
        _pending.pop(storage, None)


def _reduced(contents, how):
    """Of all ranks."""
    torch = _values.torch
    if any(content is None or content[0] == _values.UNKNOWN for content in contents):
        return _values.UNKNOWN, None
    stacked = torch.stack([value for _, value in contents])
    name = str(how).rsplit(".", 1)[-1].upper()
    ways = {"SUM": stacked.sum, "AVG": stacked.mean, "PRODUCT": stacked.prod, "MAX": stacked.amax, "MIN": stacked.amin}
    if name not in ways:
        return _values.UNKNOWN, None
    return min(state for state, _ in contents), ways[name](0).to(stacked.dtype)


class _Group:
    def __init__(self, boxed):
        from torch.distributed import ProcessGroup

        group = ProcessGroup.unbox(boxed)
        self.name, self.rank, self.size = group.group_name.replace("/", "_"), group.rank(), group.size()

    def exchange(self, parts):
        """Leaves a list of contents; returns a function for that of each rank."""
        number = _number(self.name)
        _leave(f"{self.name}.{number}.{self.rank}", parts)
        fetched = {}

        def of(rank):
            if rank not in fetched:
                fetched[rank] = _fetch(f"{self.name}.{number}.{rank}")
            return fetched[rank]

        return of


# Each gets the arguments before the operation runs, leaves what the rank contributes, and says what it receives: pairs
# of a tensor and a function for its content. None: too large, or unknown.


def _broadcast(tensors, group, root, root_tensor, *_):
    group = _Group(group)
    if not _is_small(tensors):
        return None
    of = group.exchange([_content(one) for one in tensors] if group.rank == root else [])
    return [(one, lambda at=at: (of(root) or [None])[at]) for at, one in enumerate(tensors)] if group.rank != root else []


def _allreduce(tensors, group, *_):
    group = _Group(group)
    if not _is_small(tensors):
        return None
    of = group.exchange([_content(one) for one in tensors])
    how = _thread.how
    return [(one, lambda at=at: _reduced([(of(rank) or {at: None})[at] for rank in range(group.size)], how)) for at, one in enumerate(tensors)]


def _reduce(tensors, group, _how, root, *_):
    received = _allreduce(tensors, group)
    return received if received is None or _Group(group).rank == root else []


def _gathered(group, outputs, inputs):
    if not _is_small(inputs):
        return None
    of = group.exchange([_content(one) for one in inputs])
    return [(one, lambda at=at, rank=rank: (of(rank) or {at: None})[at]) for at, list_ in enumerate(outputs) for rank, one in enumerate(list_)]


def _allgather(outputs, inputs, group, *_):
    return _gathered(_Group(group), outputs, inputs)


def _gather(outputs, inputs, group, root, *_):
    return _gathered(_Group(group), outputs, inputs)


def _allgather_base(output, input_, group, *_):
    return _allgather_into([output], [input_], group)


def _allgather_into(outputs, inputs, group, *_):
    group = _Group(group)
    return _gathered(group, [list(one.reshape(-1).chunk(group.size)) for one in outputs], inputs) if all(one.is_contiguous() for one in outputs) else None


def _scattered(group, outputs, inputs, how=None, root=None):
    """`inputs`: for each output a list, one for each rank."""
    if not _is_small(outputs):
        return None
    of = group.exchange([[_content(one) for one in list_] for list_ in inputs])

    def find(at):
        parts = [of(rank) for rank in (range(group.size) if root is None else [root])]
        if any(part is None for part in parts):
            return None
        mine = [part[at][group.rank] for part in parts]
        return mine[0] if root is not None else _reduced(mine, how)

    return [(one, lambda at=at: find(at)) for at, one in enumerate(outputs)]


def _scatter(outputs, inputs, group, root, *_):
    return _scattered(_Group(group), outputs, inputs, root=root)


def _reduce_scatter(outputs, inputs, group, *_):
    return _scattered(_Group(group), outputs, inputs, _thread.how)


def _reduce_scatter_base(output, input_, group, *_):
    group = _Group(group)
    return _scattered(group, [output], [list(input_.reshape(-1).chunk(group.size))], _thread.how) if input_.is_contiguous() else None


def _alltoall(outputs, inputs, group, *_):
    group = _Group(group)
    of = group.exchange([_content(one) for one in inputs])
    return [(one, lambda rank=rank: (of(rank) or {group.rank: None})[group.rank]) for rank, one in enumerate(outputs)]


def _alltoall_base(output, input_, group, output_sizes, input_sizes, *_):
    size = _Group(group).size

    def parts(tensor, sizes):
        return list(tensor.split(list(sizes))) if sizes else list(tensor.chunk(size))

    return _alltoall(parts(output, output_sizes), parts(input_, input_sizes), group)


def _send(tensors, group, to, *_):
    group = _Group(group)
    number = _number(group.name, group.rank, to)
    _leave(f"{group.name}.{group.rank}-{to}.{number}", [_content(one) for one in tensors])
    return []


def _recv(tensors, group, source, *_):
    group = _Group(group)
    number = _number(group.name, source, group.rank)
    name = f"{group.name}.{source}-{group.rank}.{number}"
    fetched = []

    def find(at):
        if not fetched:
            fetched.append(_fetch(name))
        return fetched[0] and fetched[0][at]

    return [(one, lambda at=at: find(at)) for at, one in enumerate(tensors)]


OPERATIONS = {
    "broadcast_": _broadcast,
    "allreduce_": _allreduce,
    "allreduce_coalesced_": _allreduce,
    "reduce_": _reduce,
    "allgather_": _allgather,
    "allgather_coalesced_": _allgather,
    "_allgather_base_": _allgather_base,
    "allgather_into_tensor_coalesced_": _allgather_into,
    "gather_": _gather,
    "scatter_": _scatter,
    "reduce_scatter_": _reduce_scatter,
    "_reduce_scatter_base_": _reduce_scatter_base,
    "alltoall_": _alltoall,
    "alltoall_base_": _alltoall_base,
    "send": _send,
    "recv_": _recv,
}


def _make(name, op):
    exchange = OPERATIONS[name]

    def run(keys, *args, **kwargs):
        keys = keys & _values._after
        tensors = list(_values._tensors_in(args))
        if _values._thread.is_computing or not any(one.is_cuda for one in tensors):
            return op.redispatch(keys, *args, **kwargs)
        received = None
        _values._thread.is_computing = True
        try:
            received = exchange(*args, **kwargs)
        except Exception as error:
            _values._note_trouble(name, error)
        finally:
            _values._thread.is_computing = False
        result = op.redispatch(keys, *args, **kwargs)
        _values._thread.is_computing = True
        try:
            if received is None:
                for one in tensors if name.endswith("_") else ():
                    _values._mark(one, _values.UNKNOWN)
            for one, find in received or ():
                _receive(one, find)
        except Exception as error:
            _values._note_trouble(name, error)
        finally:
            _values._thread.is_computing = False
        return result

    return run


def _note_how(function):
    """PyTorch doesn't show its operations' kernels what is reduced how: a sum, unless the program says otherwise."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        before = _thread.how
        try:
            _thread.how = str(signature.bind(*args, **kwargs).arguments.get("op", "SUM"))
        except TypeError:
            pass
        try:
            return function(*args, **kwargs)
        finally:
            _thread.how = before

    return call


def _change_distributed(module):
    for name in ("all_reduce", "all_reduce_coalesced", "reduce", "reduce_scatter", "reduce_scatter_tensor"):
        if hasattr(module, name):
            setattr(module, name, _note_how(getattr(module, name)))


hbmscope_imports.change({"torch.distributed.distributed_c10d": _change_distributed})  # PyTorch imports it itself.


def install(values):
    global _values, _library
    _values = values
    _library = values.torch.library.Library("c10d", "IMPL")
    for full in values.torch._C._dispatch_get_all_op_names():
        name = full.removeprefix("c10d::")
        if full.startswith("c10d::") and name in OPERATIONS:
            _library.impl(full, _make(name, getattr(values.torch.ops.c10d, name).default), "BackendSelect", with_keyset=True)
