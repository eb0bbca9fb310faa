"""What an object holds, without running any code of the job: no property, no __getattr__, no __iter__, no __eq__."""

import collections
import functools
import inspect
import sys
import types

CUT = "..."  # A step that leads to nothing: the container has more.
_ITEMS_MAX = 65536  # Of one container.
_PLAIN = (str, bytes, bytearray, int, float, complex, type(None), type, types.ModuleType, types.BuiltinFunctionType,
          types.CodeType, types.FrameType, range, slice, memoryview)
# Their objects hold no array that has no better path, and some are large.
_PACKAGES_LEFT_OUT = frozenset((
    "IPython", "_hbmscope_agent", "asyncio", "concurrent", "ctypes", "hbmscope", "importlib", "inspect", "ipykernel", "jax",
    "jaxlib", "jedi", "logging", "matplotlib", "multiprocessing", "numpy", "pandas", "re", "tensorflow", "threading",
    "traitlets", "typing", "weakref", "zmq"))


def variables_of(frame):
    """A copy of the frame's local variables. Before Python 3.13 a function's frame keeps the dictionary that f_locals makes,
    and so all its values, which would live longer than without us. It is emptied, unless the job has it too: then it was made
    by locals()."""
    variables = frame.f_locals
    copy = dict(variables)
    references_of_ours = 3  # The frame's, `variables`, and the argument of getrefcount.
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED \
            and sys.getrefcount(variables) <= references_of_ours:
        variables.clear()
    return copy


def _may_have_more(count, some_item):
    return count > _ITEMS_MAX and not issubclass(type(some_item), _PLAIN)


def _of_dict(value):
    for number, (key, child) in enumerate(list(dict.items(value))):
        if number == _ITEMS_MAX:
            if _may_have_more(dict.__len__(value), child):
                yield CUT, None
            return
        if type(key) in (str, int):
            yield "[%r]" % (key,), child


def _of_named_tuple(value):
    for name, child in zip(type(value)._fields, tuple.__iter__(value)):
        yield "." + name, child


def _of_list(value):
    for index, child in enumerate(list.__getitem__(value, slice(0, _ITEMS_MAX))):
        yield "[%d]" % index, child
    if _may_have_more(list.__len__(value), child if list.__len__(value) > 0 else None):
        yield CUT, None


def _of_tuple(value):
    for index, child in enumerate(tuple.__getitem__(value, slice(0, _ITEMS_MAX))):
        yield "[%d]" % index, child


def _of_deque(value):
    for index, child in enumerate(collections.deque.copy(value)):
        if index == _ITEMS_MAX:
            return
        yield "[%d]" % index, child


def _of_set(value):
    for child in list(set.__iter__(value))[:_ITEMS_MAX]:
        yield "{}", child


def _of_function(value):
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
        try:
            yield "<%s>" % name, cell.cell_contents
        except ValueError:  # An empty cell.
            pass


def _of_method(value):
    yield ".__self__", value.__self__


def _of_partial(value):
    yield ".func", value.func
    yield ".args", value.args
    yield ".keywords", value.keywords


def _of_generator(value):
    if value.gi_frame is not None:
        for name, child in variables_of(value.gi_frame).items():
            yield "<%s>" % name, child


def _slots_of(kind):
    """Names and descriptors of __slots__; descriptors of the job's own making are left alone."""
    found = []
    for base in kind.__mro__:
        for name, descriptor in list(base.__dict__.items()):
            if type(descriptor) is types.MemberDescriptorType:
                found.append((name, descriptor))
    return found


def _of_instance(slots):
    def children(value):
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            attributes = None
        if type(attributes) is dict:
            for name in list(attributes)[:_ITEMS_MAX]:
                if type(name) is str:
                    yield "." + name, attributes.get(name)
        for name, descriptor in slots:
            try:
                yield "." + name, descriptor.__get__(value)
            except AttributeError:  # Not set.
                pass
    return children


_BY_BASE = ((dict, _of_dict), (list, _of_list), (collections.deque, _of_deque), (set, _of_set),
            (types.FunctionType, _of_function), (types.MethodType, _of_method), (functools.partial, _of_partial),
            (types.GeneratorType, _of_generator))


def children_function(kind):
    """For objects of this type: a function that gives pairs of the text that is added to a path, and the child. None: they
    hold nothing that is looked at."""
    if issubclass(kind, tuple):
        return _of_named_tuple if type(getattr(kind, "_fields", None)) is tuple else _of_tuple
    for base, function in _BY_BASE:
        if issubclass(kind, base):
            return function
    module = kind.__dict__.get("__module__")
    package = module.partition(".")[0] if type(module) is str else ""
    if issubclass(kind, _PLAIN) or package in _PACKAGES_LEFT_OUT:
        return None
    return _of_instance(_slots_of(kind))
