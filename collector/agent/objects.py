"""What an object holds, without running any code of the job: no property, no __getattr__, no __iter__, no __eq__."""

import collections
import functools
import inspect
import itertools
import sys
import types

CUT = object()  # In place of a key: the container has more.
_ITEMS_MAX = 65536  # Of one container.
_PLAIN = (str, bytes, bytearray, int, float, complex, type(None), type, types.ModuleType, types.BuiltinFunctionType,
          types.CodeType, types.FrameType, range, slice, memoryview)
# Large, or they only lead to arrays that the job's own variables lead to as well.
_PACKAGES_LEFT_OUT = frozenset((
    "IPython", "_hbmscope_agent", "asyncio", "concurrent", "ctypes", "hbmscope", "importlib", "inspect", "ipykernel", "jax",
    "jaxlib", "jedi", "logging", "matplotlib", "multiprocessing", "numpy", "pandas", "re", "tensorflow", "threading",
    "traitlets", "typing", "weakref", "zmq"))
# A function that calls one of these has the dictionary of its variables, which reading them would change before 3.13.
_READERS_OF_VARIABLES = frozenset(("dir", "eval", "exec", "locals", "vars"))


@functools.lru_cache(maxsize=1024)
def _may_read_its_variables(code):
    if _READERS_OF_VARIABLES.isdisjoint(code.co_names):
        return False
    import dis  # Only here, because few functions come so far: model.eval() is no eval().
    return any(step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in _READERS_OF_VARIABLES
               for step in dis.get_instructions(code))


def variables_of(frame):
    """A copy of the frame's variables; empty if they can't be read without the job noticing. Before Python 3.13 a function's
    frame keeps the dictionary that f_locals makes, and so all its values, which would live longer than without us. So that
    dictionary is emptied."""
    if sys.version_info >= (3, 13) or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return dict(frame.f_locals)
    if _may_read_its_variables(frame.f_code):
        return {}
    variables = frame.f_locals
    copy = dict(variables)
    variables.clear()
    return copy


def _is_plain(value):
    return issubclass(type(value), _PLAIN)


# Each yields pairs of a key and a child; a template makes text of the key.
def _of_dict(value):
    for key, child in list(itertools.islice(dict.items(value), _ITEMS_MAX)):
        if type(key) in (str, int):
            yield key, child
    if dict.__len__(value) > _ITEMS_MAX and not _is_plain(child):
        yield CUT, None


def _of_items(items, count):
    # A long list of numbers or texts is data.
    if count > 64 and all(map(_is_plain, (items[0], items[count // 2], items[-1]))):
        return
    yield from enumerate(items)
    if count > _ITEMS_MAX:
        yield CUT, None


def _of_list(value):
    return _of_items(list.__getitem__(value, slice(0, _ITEMS_MAX)), min(list.__len__(value), _ITEMS_MAX))


def _of_tuple(value):
    return _of_items(tuple.__getitem__(value, slice(0, _ITEMS_MAX)), min(tuple.__len__(value), _ITEMS_MAX))


def _of_named_tuple(value):
    return zip(type(value)._fields, tuple.__iter__(value))


def _of_deque(value):
    return enumerate(list(itertools.islice(collections.deque.__iter__(value), _ITEMS_MAX)))


def _of_set(value):
    for child in list(itertools.islice(set.__iter__(value), _ITEMS_MAX)):
        yield "{}", child


def _of_function(value):
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # An empty cell.
            pass


def _of_method(value):
    yield ".__self__", value.__self__


def _of_partial(value):
    yield ".func", value.func
    yield ".args", value.args
    yield ".keywords", value.keywords


def _of_generator(value):
    return variables_of(value.gi_frame).items() if value.gi_frame is not None else ()


def _attributes_of(kind):
    """What reads an object's attributes; None: it has none, or a property of the job in their place."""
    for base in kind.__mro__:
        descriptor = base.__dict__.get("__dict__")
        if descriptor is not None:
            return descriptor if type(descriptor) is types.GetSetDescriptorType else None
    return None


def _of_instance(kind):
    attributes_of = _attributes_of(kind)
    slots = [(name, descriptor) for base in kind.__mro__ for name, descriptor in list(base.__dict__.items())
             if type(descriptor) is types.MemberDescriptorType]

    def children(value):
        attributes = attributes_of.__get__(value) if attributes_of is not None else None
        if type(attributes) is dict:
            for name, child in list(itertools.islice(attributes.items(), _ITEMS_MAX)):
                if type(name) is str:
                    yield name, child
        for name, descriptor in slots:
            try:
                yield name, descriptor.__get__(value)
            except AttributeError:  # Not set.
                pass
    return children


_BY_BASE = ((dict, "[%r]", _of_dict), (list, "[%d]", _of_list), (collections.deque, "[%d]", _of_deque), (set, "%s", _of_set),
            (types.FunctionType, "<%s>", _of_function), (types.MethodType, "%s", _of_method),
            (functools.partial, "%s", _of_partial), (types.GeneratorType, "<%s>", _of_generator))


def children_of(kind):
    """For objects of this type: the template of a step, and a function that yields a key and a child. None: they hold nothing
    that is looked at."""
    if issubclass(kind, tuple):
        is_named = type(getattr(kind, "_fields", None)) is tuple
        return (".%s", _of_named_tuple) if is_named else ("[%d]", _of_tuple)
    for base, template, function in _BY_BASE:
        if issubclass(kind, base):
            return template, function
    module = kind.__dict__.get("__module__")
    package = module.partition(".")[0] if type(module) is str else ""
    if issubclass(kind, _PLAIN) or package in _PACKAGES_LEFT_OUT:
        return None
    return ".%s", _of_instance(kind)
