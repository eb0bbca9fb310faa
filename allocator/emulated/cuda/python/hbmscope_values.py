"""Values of PyTorch's small tensors in a dry run.

Kernels compute nothing on an emulated device. Here, an operation whose inputs are known runs a second time, on the CPU,
over the device's memory, so that flags, masks, lengths, counters and schedules have their real values, and what is as
large as they say (`nonzero`, `repeat_interleave`) has its real size. The device's own operation runs as ever, so its
requests for memory are the same; where it asks the device for a count, it gets the real one.

What a large operation computed is unknown: it never ran. Where a program asks for it in a few numbers, it gets plausible
ones: an index is any index, floats are finite and random, a loss falls slowly. Whatever depends on those is assumed; the
driver notes each read of it, and the verdict names them.

HBMSCOPE_VALUES: `worst` sends every token to the first experts; `zeros` leaves all values as they are without this module.

How it works: a kernel for the dispatch key BackendSelect, which lies below autograd and above the devices, and for which
these operations have none. Tensors themselves don't change, nor does what PyTorch does with them.
"""

import atexit
import ctypes
import os
import sys
import threading
import types

import hbmscope_guesses
import hbmscope_jax
import hbmscope_libraries
import hbmscope_ranks
import hbmscope_triton

UNKNOWN, ASSUMED, KNOWN = hbmscope_guesses.UNKNOWN, hbmscope_guesses.ASSUMED, hbmscope_guesses.KNOWN

# An operation with more elements than that is not computed: its values hardly decide anything, and would take long.
FLOATS_MAX, INTEGERS_MAX = 1 << 16, hbmscope_guesses.ELEMENTS_MAX

# Computed from their inputs, in all their overloads; what ends with _ and changes its tensor in place is, too (LAYOUT).
COMPUTED = """
add sub rsub mul div floor_divide remainder fmod neg abs sign pow sqrt rsqrt exp log log2 log1p expm1 sin cos tanh sigmoid reciprocal ceil floor round
trunc clamp clamp_min clamp_max minimum maximum where eq ne lt le gt ge logical_and logical_or logical_not logical_xor bitwise_and bitwise_or
bitwise_not bitwise_xor __lshift__ __rshift__ bitwise_left_shift bitwise_right_shift isnan isinf isin masked_fill cumsum cumprod sum prod mean amax
amin aminmax max min any all argmax argmin sort topk cat index_select gather scatter scatter_add index _index_put_impl_ flip roll tril triu arange
linspace eye tril_indices triu_indices bincount histc searchsorted bucketize scatter_reduce lerp addcmul addcdiv masked_scatter masked_select
repeat_interleave std var linalg_vector_norm _softmax _log_softmax nan_to_num atan2 erf cummax cummin logsumexp renorm
""".split()
# As large as the values say.
SIZED = ("nonzero", "_unique", "_unique2", "unique_dim", "unique_consecutive")
# Drawn: whatever depends on them is assumed.
DRAWN = ("random_", "bernoulli_", "bernoulli", "randperm", "multinomial", "uniform_", "normal_", "exponential_", "geometric_", "cauchy_", "log_normal_")
# In place, but changes how a tensor lies in memory: not computed.
LAYOUT = ("as_strided_", "detach_", "resize_", "resize_as_", "set_", "squeeze_", "unsqueeze_", "t_", "transpose_")
# They return a value to the program.
READ = ("_local_scalar_dense", "equal")

torch = None
_how = os.environ.get("HBMSCOPE_VALUES", "")
_marks = {}  # By storage: [weak reference, state of all of it, states of its bytes or None].
_assumed = {}  # By operation and line: [times, size, largest size, the most that it could be].
_received = hbmscope_ranks._pending
_generator = None
_after = None
_set_values = None


class _Thread(threading.local):
    is_computing = False  # In here: on the CPU.
    operation = None  # The outermost one that runs: `index` asks for `nonzero`.
    how = (0, 0)  # As the driver knows it.


_thread = _Thread()


def _tensors_in(args):
    for one in args:
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, (list, tuple)):
            yield from _tensors_in(one)


def _is_small(tensor):
    return tensor.layout == torch.strided and tensor.numel() <= (FLOATS_MAX if tensor.is_floating_point() or tensor.is_complex() else INTEGERS_MAX)


# --- What is known -----------------------------------------------------------------------------------------------------


def _bytes_view(states, tensor):
    size = tensor.element_size()
    return states.as_strided(tensor.shape, [stride * size for stride in tensor.stride()], tensor.storage_offset() * size)


def _state_of(tensor):
    if not tensor.is_cuda or tensor.numel() == 0:
        return KNOWN
    if _received:
        hbmscope_ranks.resolve(tensor)
    mark = _marks.get(tensor.untyped_storage()._cdata)
    if mark is None:
        return UNKNOWN
    return mark[1] if mark[2] is None else int(_bytes_view(mark[2], tensor).min())


def states_of_elements(tensor):
    if not tensor.is_cuda or tensor.numel() == 0:
        return torch.full(tensor.shape, KNOWN, dtype=torch.uint8)
    mark = _marks.get(tensor.untyped_storage()._cdata)
    if mark is None or mark[2] is None:
        return torch.full(tensor.shape, UNKNOWN if mark is None else mark[1], dtype=torch.uint8)
    return _bytes_view(mark[2], tensor).clone()


def forget(tensor):
    """Something has written to its memory, and nobody knows what."""
    mark = _marks.get(tensor.untyped_storage()._cdata)
    if mark is not None:
        mark[1:] = UNKNOWN, None


def _weak(storage):
    return torch.multiprocessing.reductions.StorageWeakRef(storage)


def _mark(tensor, state):
    """`state`: of all of it, or a tensor of those of its elements."""
    storage = tensor.untyped_storage()
    mark = _marks.get(storage._cdata)
    is_one = isinstance(state, int)
    if not is_one and (storage.nbytes() > INTEGERS_MAX or int(state.min()) == int(state.max())):
        state, is_one = int(state.min()), True
    if is_one and tensor.numel() * tensor.element_size() >= storage.nbytes():
        if mark is not None:
            mark[1:] = state, None
        elif state != UNKNOWN:
            _marks[storage._cdata] = [_weak(storage), state, None]
        return
    if mark is None:
        if (is_one and state == UNKNOWN) or storage.nbytes() > INTEGERS_MAX:
            return
        mark = _marks[storage._cdata] = [_weak(storage), UNKNOWN, None]
    if mark[2] is None:
        if is_one and mark[1] == state:
            return
        mark[2] = torch.full((storage.nbytes(),), mark[1], dtype=torch.uint8)
    _bytes_view(mark[2], tensor).copy_(torch.full((), state, dtype=torch.uint8) if is_one else state)


def _forget_the_dead():
    for storage in [storage for storage, mark in list(_marks.items()) if mark[0].expired()]:
        _marks.pop(storage, None)
    hbmscope_ranks.forget_the_dead()


# --- The device's memory on the CPU ------------------------------------------------------------------------------------


def _on_cpu(tensor):
    """The same memory: the device's addresses are this process's."""
    if not tensor.is_cuda:
        return tensor
    if tensor.numel() == 0:
        return torch.empty(tensor.shape, dtype=tensor.dtype)
    length = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    memory = (ctypes.c_char * (length * tensor.element_size())).from_address(tensor.data_ptr())
    return torch.frombuffer(memory, dtype=tensor.dtype).as_strided(tensor.shape, tensor.stride())


def _all_on_cpu(value):
    if isinstance(value, torch.Tensor):
        return _on_cpu(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_all_on_cpu(one) for one in value)
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return value


def _compute(op, args, kwargs):
    kwargs = {name: _all_on_cpu(value) for name, value in kwargs.items() if name not in ("generator", "pin_memory")}
    if any(argument.name == "generator" for argument in op._schema.arguments):
        kwargs["generator"] = _generator
    args = _all_on_cpu(list(args))
    try:
        return op(*args, **kwargs)
    except NotImplementedError:  # The CPU's kernel is for other types.
        if op._schema.is_mutable:
            raise
        return op(*_as_doubles(args), **kwargs)


def _try(op, args, kwargs):
    """None: the CPU can't do what the device can."""
    try:
        return _compute(op, args, kwargs)
    except Exception as error:
        _note_trouble(str(op), error)
        return None


def _as_doubles(value):
    if isinstance(value, torch.Tensor):
        return value.double()
    return [_as_doubles(one) for one in value] if isinstance(value, list) else value


def _give(result, computed, state):
    """Into the tensors that the operation on the device returned; what it changed in place has its values."""
    results = [result] if isinstance(result, torch.Tensor) else list(_tensors_in(result))
    values = [computed] if isinstance(computed, torch.Tensor) else list(_tensors_in(computed))
    for device, value in zip(results, values):
        if not device.is_cuda:
            continue
        if device.shape != value.shape:
            _mark(device, UNKNOWN)
            continue
        if device.numel() > 0 and value.data_ptr() != device.data_ptr():
            _on_cpu(device).copy_(value)
        _mark(device, state)


# --- The operations ----------------------------------------------------------------------------------------------------


class _Values:
    """What the driver gives to reads of this thread, meanwhile."""

    def __init__(self, how, count=0):
        self._now = (how, count)

    @classmethod
    def of(cls, state):
        """Those in memory; unknown ones as before, as an operation around this one may know a count."""
        return cls(1 | (4 if state == KNOWN else 0)) if state != UNKNOWN else cls(*_thread.how)

    def __enter__(self):
        self._before, _thread.how = _thread.how, self._now
        _set_values(*self._now)

    def __exit__(self, *_):
        _thread.how = self._before
        _set_values(*self._before)


def _line_of_user():
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if "-packages" not in file and not file.startswith(("<", sys.base_prefix + "/lib")):
            return f"{getattr(frame.f_code, 'co_qualname', frame.f_code.co_name)} {os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def note_size(size, most, operation=None):
    name = (operation or _thread.operation).strip("_").replace("unique2", "unique")
    known = _assumed.setdefault((name, _line_of_user()), [0, size, size, most])
    known[0] += 1
    known[1:] = min(known[1], size), max(known[2], size), max(known[3], most)


def assumptions():
    """Sizes that depended on assumed values, for the report of the process."""
    return [{"operation": operation, "line": line, "times": times, "least": least, "most": most, "worst": worst} for (operation, line), (times, least, most, worst) in _assumed.items()]


def _run_sized(op, keys, args, kwargs):
    tensor = args[0]
    if not tensor.is_cuda or tensor.numel() == 0 or tensor.layout != torch.strided:
        return op.redispatch(keys, *args, **kwargs)
    state = _state_of(tensor) if tensor.numel() <= INTEGERS_MAX else UNKNOWN
    computed = _try(op, args, kwargs) if state != UNKNOWN else None
    if computed is not None:
        count = (computed if isinstance(computed, torch.Tensor) else computed[0]).shape[0]
    else:
        state, count = UNKNOWN, max(1, tensor.numel() // (1 if _how == "worst" else 2))
    if state != KNOWN:
        note_size(count, tensor.numel())
    _thread.is_computing = False
    try:
        with _Values(2 | (4 if state == KNOWN else 0), count):
            result = op.redispatch(keys, *args, **kwargs)
    finally:
        _thread.is_computing = True
    if computed is not None:
        _give(result, computed, state)
    return result


def _read(name, op, keys, args, kwargs):
    tensors = [one for one in _tensors_in(args) if one.is_cuda]
    if not tensors:
        return op.redispatch(keys, *args, **kwargs)
    state = min(_state_of(one) for one in tensors)
    if name == "equal" and len(tensors) == 2 and hbmscope_guesses.is_same(*tensors):
        return True
    with _Values.of(state):
        result = op.redispatch(keys, *args, **kwargs)
    computed = _try(op, args, kwargs) if state != UNKNOWN else None
    if computed is not None:
        return computed
    if name == "_local_scalar_dense" and tensors[0].is_floating_point():
        return hbmscope_guesses.plausible_floats((), tensors[0].dtype).item()
    if name == "_local_scalar_dense" and tensors[0].dtype == torch.bool:
        return bool(torch.rand((), generator=_generator) < 0.5)
    return result


def _copy_to_host(op, keys, args, kwargs):
    to, source = args[0], args[1]
    if not _is_small(source):
        return op.redispatch(keys, *args, **kwargs)
    state = _state_of(source)
    with _Values.of(state):
        result = op.redispatch(keys, *args, **kwargs)
    if state != UNKNOWN:
        to.copy_(_on_cpu(source))
    elif source.is_floating_point() and to.is_floating_point():
        to.copy_(hbmscope_guesses.plausible_floats(source.shape, to.dtype).expand_as(to))
    return result


def _follow(name, op, args, kwargs, result):
    """After the operation on the device."""
    results = [result] if isinstance(result, torch.Tensor) else list(_tensors_in(result))
    if not results or not results[0].is_cuda:
        return
    inputs = list(_tensors_in(args)) + list(_tensors_in(kwargs.values()))
    # An overwritten tensor's old values don't matter.
    overwrites = name in ("copy_", "fill_", "zero_") or (name in DRAWN and name.endswith("_")) or op._overloadname.endswith("out")
    needed = [one for one in inputs if not (overwrites and any(one is other for other in results))]
    is_small = all(_is_small(one) for one in results) and all(one.is_cpu or _is_small(one) for one in needed)
    state = min((_state_of(one) for one in needed), default=KNOWN) if is_small else UNKNOWN
    if state != UNKNOWN:
        _give(result, _compute(op, args, kwargs), min(state, ASSUMED) if name in DRAWN else state)
        return
    if name == "where" and len(args) == 3 and _follow_where(op, args, result):
        return
    guessed = hbmscope_guesses.guess(name, op, args, kwargs, result) if all(_is_small(one) or one.is_floating_point() for one in results) else None
    if guessed is None:
        for one in results:
            _mark(one, UNKNOWN)
        return
    values, state = guessed
    for device, value in zip(results, values if isinstance(values, list) else [values]):
        if value is None or not _is_small(device):
            _mark(device, UNKNOWN)
        else:
            _on_cpu(device).copy_(value)
            _mark(device, state)


def _follow_where(op, args, result):
    """Of what is chosen. False: that isn't known."""
    condition, yes, no = args
    state = _state_of(condition)
    if state == UNKNOWN or not result.is_cuda or not _is_small(result):
        return False
    chosen = _on_cpu(condition).bool()
    of = torch.where(chosen, states_of_elements(yes), states_of_elements(no)).clamp(max=state)
    _give(result, _compute(op, args, {}), state)
    _mark(result, of)
    return True


def _as_tensors(op, places, args):
    """PyTorch shows a Python kernel a tensor that was made of a number as that number, and doesn't take it back."""
    args = list(args)
    others = [args[at] for at in places if at < len(args) and isinstance(args[at], torch.Tensor)]
    other = others[-1] if others else None  # The condition of `where` comes first.
    for at in places:
        if at < len(args) and isinstance(args[at], (bool, int, float, complex)):
            kind = torch.result_type(other, args[at]) if other is not None else torch.result_type(torch.empty((), dtype=torch.bool), args[at])
            args[at] = torch.tensor(args[at], dtype=kind)
    return args


def _isin_of_number(keys, element, elements, **kwargs):
    """Made of an operation that would get a number on the device."""
    kind = torch.int64 if isinstance(element, int) else torch.float64
    return torch.ops.aten.isin.Tensor_Tensor(torch.scalar_tensor(element, dtype=kind, device=elements.device), elements, **kwargs)


def _make(name, op):
    if str(op) == "aten.isin.Scalar_Tensor":
        return _isin_of_number
    is_sized, is_read, is_copy = name in SIZED, name in READ, name == "copy_"
    places = [at for at, argument in enumerate(op._schema.arguments) if str(argument.type) == "Tensor" and not argument.kwarg_only]

    def run(keys, *args, **kwargs):
        keys = keys & _after
        for at in places:
            if at < len(args) and not isinstance(args[at], torch.Tensor):
                args = _as_tensors(op, places, args)
                break
        if _thread.is_computing:
            return op.redispatch(keys, *args, **kwargs)
        is_outermost = _thread.operation is None
        if is_outermost:
            _thread.operation = name
        try:
            if is_sized or is_read or (is_copy and args[0].is_cpu and args[1].is_cuda):
                _thread.is_computing = True
                if is_sized:
                    return _run_sized(op, keys, args, kwargs)
                return _read(name, op, keys, args, kwargs) if is_read else _copy_to_host(op, keys, args, kwargs)
            result = op.redispatch(keys, *args, **kwargs)
            _thread.is_computing = True
            try:
                _follow(name, op, args, kwargs, result)
                if len(_marks) > 20_000:
                    _forget_the_dead()
            except Exception as error:  # The CPU can't do what the device can.
                _note_trouble(name, error)
            return result
        finally:
            _thread.is_computing = False
            if is_outermost:
                _thread.operation = None

    # Stacks name the operation (analysis/query/read_place.cpp).
    names = {"co_filename": "<frozen hbmscope_values>", "co_name": name, "co_qualname": name}
    run.__code__ = run.__code__.replace(**{key: value for key, value in names.items() if hasattr(run.__code__, key)})
    return run


_troubles = {}


def _note_trouble(name, error):
    if os.environ.get("HBMSCOPE_DEVICE_LOG") and name not in _troubles:
        sys.stderr.write(f"hbmscope_values: {name}: {type(error).__name__}: {str(error)[:200]}\n")
    _troubles[name] = _troubles.get(name, 0) + 1


def _install(module):
    global torch, _generator, _after, _set_values, _library
    torch = module
    try:
        _set_values = ctypes.CDLL("libcuda.so.1").hbmscope_device_values
        _set_values.argtypes = [ctypes.c_int, ctypes.c_ulonglong]
        _set_values.restype = None
        _after = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)
        import torch.multiprocessing.reductions  # noqa: F401

        _generator = torch.Generator().manual_seed(20)
        hbmscope_guesses.torch, hbmscope_guesses.generator = torch, _generator
        hbmscope_guesses.states_of_elements, hbmscope_guesses.on_cpu = states_of_elements, _on_cpu
        atexit.register(_marks.clear)
        atexit.register(_received.clear)
        _library = torch.library.Library("aten", "IMPL")
        names = {*COMPUTED, *SIZED, *DRAWN, *READ}
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        for full in torch._C._dispatch_get_all_op_names():
            name, _, overload = full.removeprefix("aten::").partition(".")
            is_in_place = name.endswith("_") and not name.startswith("_") and "sparse" not in name and name not in LAYOUT
            if not full.startswith("aten::") or not (name in names or is_in_place):
                continue
            if has_kernel(full, "BackendSelect") or has_kernel(full, "CompositeImplicitAutograd"):
                continue  # Made of others.
            if full.startswith("aten::pow.Tensor_Tensor"):
                continue  # A number on the device can't be shown to a Python kernel.
            op = getattr(getattr(torch.ops.aten, name), overload or "default")
            _library.impl(full, _make(name, op), "BackendSelect", with_keyset=True)
        hbmscope_ranks.install(sys.modules[__name__])
    except Exception as error:  # An old release: all values stay as they are.
        _note_trouble("start", error)


def _without_file(code):
    """Not code of the program, for whoever looks at a stack."""
    inner = tuple(_without_file(one) if isinstance(one, types.CodeType) else one for one in code.co_consts)
    return code.replace(co_filename="<frozen hbmscope>", co_consts=inner)


if _how != "zeros":
    import hbmscope_imports

    for _module in (sys.modules[__name__], hbmscope_ranks, hbmscope_guesses, hbmscope_jax, hbmscope_libraries, hbmscope_triton):
        for _one in [one for one in vars(_module).values() if isinstance(one, types.FunctionType)]:
            _one.__code__ = _without_file(_one.__code__)
    hbmscope_imports.change({"torch": _install, **hbmscope_libraries.changes(sys.modules[__name__]), **hbmscope_triton.changes(sys.modules[__name__]), **hbmscope_jax.changes(sys.modules[__name__])})
