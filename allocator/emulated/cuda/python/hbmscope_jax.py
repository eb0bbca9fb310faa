"""Values of JAX's small arrays in a dry run.

Kernels compute nothing on an emulated device. What a compiled function makes of known values alone (counters of steps,
keys, masks, schedules) is computed a second time, on the CPU: the part of its jaxpr that these outputs need. A known array
holds its value on the host, as one that was read before, so the program's reads don't reach the device.

What is unknown is read from the device as ever, and the driver notes it; the program gets plausible values (a loss falls
slowly, a mask has half of its places, an index is any index). HBMSCOPE_VALUES=worst: a mask has all of them, an index is 0.

How it works: a compiled function runs as ever, and then its part; functions with small outputs don't take the shortcut that
leaves Python out.
"""

import os
import sys
import threading
import weakref

import hbmscope_guesses

SMALL = 1 << 16  # Elements of what is computed.
EQUATIONS_MAX, STEPS_MAX = 5000, 10_000
# They loop without a known end, call what has no form for the CPU, or draw other numbers there.
NOT_COMPUTED = ("while", "pallas_call", "rng_bit_generator", "shard_map", "ffi_call", "custom_call", "infeed", "outfeed")

values = None  # hbmscope_values.
jax = np = core = pe = None
_is_worst = os.environ.get("HBMSCOPE_VALUES") == "worst"
_known = {}  # By id: [weak reference, value on the host].
_guesses = {}  # By id: [weak reference, what _guess_of says].
_plans = weakref.WeakKeyDictionary()  # By jaxpr.
_random = None
_cpu = None  # The device that computes. False: there is none, as JAX_PLATFORMS=cuda has it.


class _Thread(threading.local):
    is_computing = False  # In here: on the CPU.


_thread = _Thread()


# --- What is known -----------------------------------------------------------------------------------------------------


def _keep(table, array, value):
    key = id(array)
    table[key] = [weakref.ref(array, lambda _: table.pop(key, None)), value]


def _base(value):
    """Of an array of keys: its numbers."""
    return getattr(value, "_base_array", value)


def _is_array(value):
    return isinstance(value, jax.Array) and not isinstance(value, core.Tracer)


def _value_of(value):
    """On the host, or None."""
    value = _base(value)
    if not _is_array(value):
        return value if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)) else None
    known = _known.get(id(value))
    return known[1] if known is not None else None


def _remember(array, value):
    array = _base(array)
    value = np.asarray(value)
    if not _is_array(array) or array.shape != value.shape or array.dtype != value.dtype:
        return
    value.flags.writeable = False
    array._npy_value = value
    _keep(_known, array, value)


# --- The part of a function that needs only what is known --------------------------------------------------------------


def _inner(equation):
    """The jaxprs in its parameters."""
    for value in equation.params.values():
        for one in value if isinstance(value, (tuple, list)) else (value,):
            one = getattr(one, "jaxpr", one)
            if isinstance(one, core.Jaxpr):
                yield one


def _called(equation):
    """Its jaxpr, if that has the equation's inputs and outputs."""
    if equation.primitive.name not in ("pjit", "jit", "closed_call", "core_call", "remat", "checkpoint"):
        return None
    inner = list(_inner(equation))
    return inner[0] if len(inner) == 1 and len(inner[0].invars) == len(equation.invars) else None


def _needed(jaxpr, given):
    """Of each output: which inputs it depends on, as bits. `given`: those of the jaxpr's own inputs."""
    bits = dict(zip(jaxpr.invars, given))
    of = lambda var: 0 if isinstance(var, core.Literal) else bits.get(var, -1)  # noqa: E731; -1: never known
    for var in jaxpr.constvars:
        bits.setdefault(var, -1)
    for equation in jaxpr.eqns:
        inputs = [of(var) for var in equation.invars]
        called = _called(equation)
        if called is not None:
            outputs = _needed(called, inputs)
        else:
            together = 0
            for one in inputs:
                together |= one
            outputs = [together] * len(equation.outvars)
        bits.update(zip(equation.outvars, outputs))
    return [of(var) for var in jaxpr.outvars]


def _size(aval):
    size = 1
    for one in getattr(aval, "shape", ()):
        size *= one
    return size


def _is_computable(jaxpr, steps=1):
    if steps > STEPS_MAX or len(jaxpr.eqns) > EQUATIONS_MAX:
        return False
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in NOT_COMPUTED or "callback" in name or any(_size(var.aval) > SMALL for var in equation.outvars):
            return False
        if not all(_is_computable(one, steps * equation.params.get("length", 1)) for one in _inner(equation)):
            return False
    return True


def _is_key(dtype):
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


class _Plan:
    """What to compute of a jaxpr, by which of its inputs are known."""

    def __init__(self, closed):
        self.jaxpr = closed.jaxpr
        self.small = [at for at, var in enumerate(self.jaxpr.outvars) if _size(var.aval) <= SMALL]
        inputs = [*self.jaxpr.constvars, *self.jaxpr.invars]
        self.count = len(inputs)
        self.needed = _needed(self.jaxpr.replace(constvars=[], invars=inputs) if self.jaxpr.constvars else self.jaxpr, [1 << at for at in range(self.count)])
        self.parts = {}
        self.guess = _guess_of(self.jaxpr)

    def part(self, known):
        """(function, the inputs that it takes, the outputs that it gives), or None. `known`: bits."""
        outputs = tuple(at for at in self.small if self.needed[at] != -1 and not self.needed[at] & ~known)
        if outputs not in self.parts:
            self.parts[outputs] = self._make(outputs) if outputs else None
        return self.parts[outputs]

    def _make(self, outputs):
        whole = pe.convert_constvars_jaxpr(self.jaxpr) if self.jaxpr.constvars else self.jaxpr
        part, used = pe.dce_jaxpr(whole, [at in outputs for at in range(len(self.jaxpr.outvars))])
        inputs = [at for at, one in enumerate(used) if one]
        if not _is_computable(part) or any(_size(var.aval) > SMALL for var in part.invars):
            return None
        # Since JAX 0.12 a jaxpr has its constants itself.
        return jax.jit(core.jaxpr_as_fun(core.ClosedJaxpr(part, ()) if hasattr(core, "ClosedJaxpr") else part)), inputs, [var.aval for var in part.invars], outputs


def _as_input(value, aval):
    if _is_key(aval.dtype):
        return jax.random.wrap_key_data(np.asarray(value), impl=aval.dtype._impl.name)
    return np.asarray(value, dtype=aval.dtype)


def _compute(part, known):
    function, inputs, avals, _ = part
    _thread.is_computing = True
    try:
        with jax.default_device(_cpu), jax._src.config.enable_compilation_cache(False):
            outputs = function(*[_as_input(known[at], aval) for at, aval in zip(inputs, avals)])
        return [np.array(_base(one)) for one in outputs]
    finally:
        _thread.is_computing = False


# --- What is not known -------------------------------------------------------------------------------------------------


def _guess_of(jaxpr):
    """For what is read next: (kind, number). A count of a mask is half of it; an index is any index."""
    if len(jaxpr.outvars) != 1:
        return None
    out, inputs = jaxpr.outvars[0].aval, [var.aval for var in jaxpr.invars]
    if not jax.dtypes.issubdtype(getattr(out, "dtype", float), np.integer):
        return None
    if out.shape == () and len(inputs) == 1 and inputs[0].dtype == bool and _size(inputs[0]) > 1:
        size = _size(inputs[0])
        return "count", size if _is_worst else (size + 1) // 2, size
    sizes = [max((equation.invars[0].aval.shape[axis] for axis in equation.params["axes"]), default=1) for equation in _all_equations(jaxpr) if equation.primitive.name == "argmax"]
    return ("index", max(sizes)) if sizes else None


def _all_equations(jaxpr, depth=0):
    for equation in jaxpr.eqns:
        yield equation
        if depth < 4:
            for one in _inner(equation):
                yield from _all_equations(one, depth + 1)


def _note_size(count, most):
    """For the verdict, with the function of JAX that the program called: `nonzero`, `__getitem__`."""
    frame, name = sys._getframe(1), ""
    while frame is not None and ("-packages" in frame.f_code.co_filename or frame.f_code.co_filename.startswith("<")):
        name, frame = frame.f_code.co_name, frame.f_back
    values.note_size(count, most, name)


def _plausible(value, guess):
    if guess is not None:
        kind, number, *most = guess
        if kind == "count":
            _note_size(number, most[0])
            return np.full(value.shape, number, value.dtype)
        return np.zeros_like(value) if _is_worst else _random.integers(0, max(1, number), value.shape).astype(value.dtype)
    if value.dtype == bool:
        mask = np.ones_like(value) if _is_worst else _random.random(value.shape) < 0.5
        if mask.size > 1:
            _note_size(int(mask.sum()), mask.size)
        return mask
    if jax.numpy.issubdtype(value.dtype, np.floating):
        return np.full(value.shape, hbmscope_guesses.next_loss(), value.dtype) if value.size == 1 else _random.standard_normal(value.shape).astype(value.dtype)
    return value


# --- Where JAX runs, puts and reads ------------------------------------------------------------------------------------


def _is_emulated(array):
    return next(iter(array.sharding.device_set)).platform not in ("cpu", "tpu")


def _has_cpu():
    global _cpu
    if _cpu is None:
        try:
            _cpu = jax.devices("cpu")[0]
        except RuntimeError as error:
            _cpu = False
            values._note_trouble("cpu", error)
    return _cpu is not False


def _follow(closed, args, outputs):
    plan = _plans.get(closed)
    if plan is None:
        plan = _plans[closed] = _Plan(closed)
    if not plan.small:
        return
    inputs = [_value_of(one) for one in (*closed.consts, *args)]
    known = sum(1 << at for at, one in enumerate(inputs) if one is not None)
    part = plan.part(known) if len(inputs) == plan.count and _has_cpu() else None
    if part is not None:
        for at, value in zip(part[3], _compute(part, inputs)):
            _remember(outputs[at], value)
    elif plan.guess is not None and _is_array(outputs[0]):
        _keep(_guesses, outputs[0], plan.guess)


def _after_calls(pjit):
    run = pjit._pjit_call_impl_python

    def run_and_follow(*args, jaxpr, **parameters):
        result = run(*args, jaxpr=jaxpr, **parameters)
        if not _thread.is_computing:
            try:
                _follow(jaxpr, args, result[0])
            except Exception as error:  # Another release, or what the CPU can't do.
                values._note_trouble(parameters.get("name", ""), error)
        return result

    pjit._pjit_call_impl_python = run_and_follow


def _after_puts(primitive):
    run = primitive.impl

    def run_and_remember(*args, **parameters):
        outputs = run(*args, **parameters)
        if not _thread.is_computing:
            try:
                for value, array in zip(args, outputs):
                    if value is not array and getattr(array, "size", SMALL + 1) <= SMALL and _is_array(_base(array)) and _is_emulated(_base(array)):
                        known = _value_of(value)
                        if known is not None:
                            _remember(array, np.array(known, dtype=_base(array).dtype))
            except Exception as error:
                values._note_trouble("device_put", error)
        return outputs

    primitive.def_impl(run_and_remember)


def _without_shortcut(pjit):
    shortcut = pjit._get_fastpath_data

    def get(executable, tree, inputs, outputs, *rest):
        if not _thread.is_computing and any(getattr(one, "size", 0) <= SMALL for one in outputs):
            return None
        return shortcut(executable, tree, inputs, outputs, *rest)

    pjit._get_fastpath_data = get


def _read_plausible(array_type):
    real = array_type._value

    def value_of_array(self):
        value = real.fget(self)
        if _thread.is_computing or id(self) in _known or not 0 < value.size <= hbmscope_guesses.ELEMENTS_MAX or not _is_emulated(self):
            return value
        try:
            guess = _guesses.get(id(self))
            value = _plausible(value, guess and guess[1])
            value.flags.writeable = False
            self._npy_value = value
            _keep(_known, self, value)  # It was noted as read; from now on it has this value.
        except Exception as error:
            values._note_trouble("read", error)
        return value

    array_type._value = property(value_of_array)


def _install(module):
    global jax, np, core, pe, _random
    jax = module
    try:
        import numpy as np
        from jax._src import core, dispatch, pjit
        from jax._src.array import ArrayImpl
        from jax._src.interpreters import partial_eval as pe

        _random = np.random.default_rng(20)
        _without_shortcut(pjit)
        _after_calls(pjit)
        _after_puts(dispatch.device_put_p)
        _read_plausible(ArrayImpl)
    except Exception as error:  # Another release: all values stay as they are.
        values._note_trouble("start", error)


def changes(module):
    """For hbmscope_imports.change()."""
    global values
    values = module
    return {"jax": _install}
