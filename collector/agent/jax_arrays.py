"""JAX's arrays: how they are recognised, and where their memory is."""

import contextlib
import sys


def find():
    """None if JAX is not in use."""
    array = sys.modules.get("jax._src.array")
    kind = getattr(array, "ArrayImpl", None)
    return Jax(kind) if isinstance(kind, type) else None


def _of_frozen_dict(value):  # flax.core.FrozenDict
    yield "", value._dict


def _of_variable(value):  # flax.nnx.Variable: params['w'] rather than params['w'].raw_value
    attributes = object.__getattribute__(value, "__dict__")
    for name in ("raw_value", "_raw_value", "value"):
        if name in attributes:
            yield "", attributes[name]


def _of_leaf(_):
    return ()


class Jax:
    name = "JAX"

    def __init__(self, kind):
        self._kind = kind
        version = getattr(sys.modules.get("jax"), "__version_info__", None)
        self._leaves_parts = type(version) is tuple and version < (0, 10)

    def versions(self):
        for module, package in (("jax.version", "jax"), ("jaxlib.version", "jaxlib")):
            version = getattr(sys.modules.get(module), "__version__", None)
            if isinstance(version, str):
                yield package, version

    def is_leaf(self, value):
        return type(value) is self._kind

    def quiet(self):
        return contextlib.nullcontext()

    def children_of(self, kind):
        if kind is self._kind:
            return "%s", _of_leaf
        for base in kind.__mro__:
            module = base.__dict__.get("__module__")
            if base.__name__ == "FrozenDict" and module == "flax.core.frozen_dict":
                return "%s", _of_frozen_dict
            if base.__name__ == "Variable" and type(module) is str and module.startswith("flax.nnx"):
                return "%s", _of_variable
        return None

    def is_late(self, kind):
        return False

    def note(self, found):
        pass

    def blocks(self, blocks_max):
        """JAX's are found without Python, as its programs get them (collector/inject/pjrt_buffers.h)."""
        return ()

    def graph_of(self, array):
        return None

    def is_gone(self, array):
        """Donated: the variable has the program's last input, and is about to get its output."""
        return array.is_deleted()

    def addresses_of(self, array, is_thorough):
        """The address on each device. Asking an array of several devices for its parts leaves them in jax.live_arrays(), and
        so does asking any array before JAX 0.10 (seen in 0.4.38 to 0.9.0). So only if `is_thorough`."""
        if array.is_deleted():
            return
        parts = len(array.sharding.addressable_devices)
        if parts == 1:
            if is_thorough or not self._leaves_parts:
                yield array.unsafe_buffer_pointer()
        elif is_thorough:
            for part in range(parts):
                yield array.addressable_data(part).unsafe_buffer_pointer()
