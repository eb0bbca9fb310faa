"""Operations of other libraries on tensors in a dry run (hbmscope_values.py). Their kernels write what they make with
operations of PyTorch, so none of it is known."""

# By their package: these results are as large as the values say.
SIZED = {"torchvision": ("nms",)}

values = None  # hbmscope_values.
_libraries = []


def _make_of_library(op, is_sized):
    """The CPU's kernel says what is known; the device's runs with the size of that, or of half of the rows."""

    def run(keys, *args, **kwargs):
        keys = keys & values._after
        if values._thread.is_computing or not any(one.is_cuda for one in values._tensors_in(args)):
            return op.redispatch(keys, *args, **kwargs)
        is_outermost = values._thread.operation is None
        if is_outermost:
            values._thread.operation = op._opname
        try:
            tensors = list(values._tensors_in(args))
            state = min(values._state_of(one) for one in tensors) if is_sized and all(values._is_small(one) for one in tensors) else values.UNKNOWN
            rows = args[0].shape[0] if is_sized else 0
            values._thread.is_computing = True
            try:
                computed = values._try(op, args, kwargs) if state != values.UNKNOWN else None
                if computed is None:
                    state, count = values.UNKNOWN, rows if values._how == "worst" else (rows + 1) // 2
                else:
                    count = computed.shape[0]
                # The driver needn't note it: that is done here, with the operation's own name.
                with values._Values(6, count) if is_sized else values._Values(*values._thread.how):
                    result = op.redispatch(keys, *args, **kwargs)
            finally:
                values._thread.is_computing = False
            if is_sized and state != values.KNOWN and rows > 0:
                values.note_size(result.shape[0], rows)
            if computed is not None:
                values._give(result, computed, state)
            return result
        finally:
            if is_outermost:
                values._thread.operation = None

    return run


def _follow_library(name):
    """Once its package was imported, the library's operations on the device are known."""

    def install(_):
        try:
            library = values.torch.library.Library(name, "IMPL")
            for full in values.torch._C._dispatch_get_all_op_names():
                if not full.startswith(name + "::") or not values.torch._C._dispatch_has_kernel_for_dispatch_key(full, "CUDA"):
                    continue
                opname, _, overload = full.removeprefix(name + "::").partition(".")
                op = getattr(getattr(getattr(values.torch.ops, name), opname), overload or "default")
                library.impl(full, _make_of_library(op, opname in SIZED[name]), "BackendSelect", with_keyset=True)
            _libraries.append(library)
        except Exception as error:
            values._note_trouble(name, error)

    return install


def changes(module):
    """For hbmscope_imports.change()."""
    global values
    values = module
    return {name: _follow_library(name) for name in SIZED}
