"""Changes modules of other packages right after their import, without importing them first."""

import importlib.abc
import importlib.util
import sys


class _Loader(importlib.abc.Loader):
    """The module as it is, and then changed."""

    def __init__(self, real, change):
        self._real, self._change = real, change

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        self._real.exec_module(module)
        self._change(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, changes):
        self._changes = dict(changes)

    def find_spec(self, name, path, target=None):
        change = self._changes.pop(name, None)
        if change is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, change)
        return spec


def change(changes):
    """`changes`: functions that get the module, by its name."""
    sys.meta_path.insert(0, _Finder(changes))
