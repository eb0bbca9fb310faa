"""What a JAX program needs besides the plugin so that it runs on an emulated TPU slice.

One process has the devices of all hosts, so there is nothing to connect: jax.distributed.initialize() says so and
returns. sitecustomize imports this module if HBMSCOPE_TPU_TOPOLOGY is set.
"""

import importlib.abc
import importlib.util
import os
import sys

_MODULE = "jax._src.distributed"
_is_initialized = False


def _initialize(*arguments, **keywords):
    global _is_initialized
    _is_initialized = True
    topology = os.environ.get("HBMSCOPE_TPU_TOPOLOGY")
    print(f"hbmscope: jax.distributed is emulated: this process has all devices of {topology}, as process 0 of 1", file=sys.stderr)


def _shutdown():
    global _is_initialized
    _is_initialized = False


class _Loader(importlib.abc.Loader):
    """The module as it is, with another initialize()."""

    def __init__(self, real):
        self._real = real

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        self._real.exec_module(module)
        module.initialize = _initialize
        module.shutdown = _shutdown
        module.is_initialized = lambda: _is_initialized


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


sys.meta_path.insert(0, _Finder())
