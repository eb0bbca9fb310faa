"""hbmscope from inside a program. Without an hbmscope that observes the process, every call does nothing.

    import hbmscope

    for batch in loader:
        with hbmscope.tag("loss"):          # blocks that PyTorch allocates here are marked with it
            loss = model(batch).mean()
        ...
        hbmscope.mark("step")               # a marker on the timeline

    hbmscope.snapshot()                     # name all arrays now, also those on several devices
    hbmscope.start("train.hbm")             # have this process observed from now on, as hbmscope attach does
    hbmscope.stop()
"""

import contextlib as _contextlib
import ctypes as _ctypes
import os as _os
import shutil as _shutil
import signal as _signal
import subprocess as _subprocess
import sysconfig as _sysconfig
import time as _time
import typing as _typing

__all__ = ["find_program", "is_observed", "mark", "snapshot", "start", "stop", "tag"]


def __getattr__(name: str) -> str:
    if name == "__version__":  # Of what pip installed.
        from importlib import metadata

        return metadata.version("hbmscope")
    raise AttributeError(f"module 'hbmscope' has no attribute '{name}'")


_LIBRARY = "libhbmscope_collector.so"
_functions = None
_looked = -1.0
_observer = None  # The hbmscope that start() has started.


class _Functions(_ctypes.Structure):
    """As in collector/inject/python_agent.cpp; later ones are added at the end."""

    _fields_ = [("count", _ctypes.c_uint64),
                ("is_observed", _ctypes.PYFUNCTYPE(_ctypes.c_int)),
                ("marker", _ctypes.PYFUNCTYPE(None, _ctypes.c_char_p, _ctypes.c_int)),
                ("set_tag", _ctypes.PYFUNCTYPE(_ctypes.c_uint32, _ctypes.c_char_p)),
                ("restore_tag", _ctypes.PYFUNCTYPE(None, _ctypes.c_uint32)),
                ("snapshot", _ctypes.PYFUNCTYPE(_ctypes.c_int))]


def _path_of_library():
    with open("/proc/self/maps", errors="replace") as maps:
        for line in maps:
            if _LIBRARY in line:
                return line.split(maxsplit=5)[-1].strip()
    return None


def _find():
    global _functions, _looked
    if _functions is None:
        if _time.monotonic() < _looked + 1:  # It takes a while in a process with many libraries.
            return None
        _looked = _time.monotonic()
        path = _path_of_library()
        if path is None or not _os.path.exists(path):
            return None
        get = _ctypes.CDLL(path).hbmscope_functions_1
        get.restype = _ctypes.POINTER(_Functions)
        _functions = get().contents
    return _functions if _functions.is_observed() else None


def _is_observed_now():
    global _looked
    _looked = -1.0
    return is_observed()


def is_observed() -> bool:
    """Whether an hbmscope observes this process."""
    return _find() is not None


def mark(name: object = "step") -> None:
    """Puts a marker on the timeline."""
    functions = _find()
    if functions is not None:
        functions.marker(str(name).encode("utf-8", "replace"), 0)


@_contextlib.contextmanager
def tag(name: object) -> "_typing.Iterator[None]":
    """Marks the blocks that this thread allocates from PyTorch's pool meanwhile. XLA's are marked with their program."""
    functions = _find()
    if functions is None:
        yield
        return
    before = functions.set_tag(str(name).encode("utf-8", "replace"))
    try:
        yield
    finally:
        functions.restore_tag(before)


def snapshot() -> bool:
    """Names all arrays that can be reached from the program's variables. May take a second; True if it was done."""
    functions = _find()
    return functions is not None and functions.snapshot() != 0


def find_program() -> "_typing.Optional[str]":
    """The path of the program hbmscope: that of this Python's environment, else that of the PATH. None: there is none."""
    own = _os.path.join(_sysconfig.get_path("scripts"), "hbmscope")
    return own if _os.access(own, _os.X_OK) else _shutil.which("hbmscope")


def start(record: "_typing.Union[str, _os.PathLike, None]" = None, timeout: float = 30.0) -> None:
    """Attaches an hbmscope to this process, which records to `record` (default: a new file), until stop(). Does nothing if
    the process is already observed. Raises FileNotFoundError without the program hbmscope, and RuntimeError, with its
    words, if it can't attach."""
    global _observer
    if is_observed():
        return
    program = find_program()
    if program is None:
        raise FileNotFoundError("there is no program hbmscope in this Python's environment or on the PATH")
    command = [program, "attach", str(_os.getpid()), "--no-window"] + (["--record", _os.fspath(record)] if record else [])
    _observer = _subprocess.Popen(command, stdin=_subprocess.DEVNULL, stdout=_subprocess.DEVNULL, stderr=_subprocess.PIPE, text=True)
    end = _time.monotonic() + timeout
    while not _is_observed_now():
        if _observer.poll() is not None or _time.monotonic() > end:
            failed, _observer = _observer, None
            failed.kill()
            raise RuntimeError("hbmscope could not attach: " + failed.communicate()[1].strip())
        _time.sleep(0.02)


def stop() -> None:
    """Ends what start() began, and waits until the recording is written; at most a minute."""
    global _observer
    if _observer is None:
        return
    observer, _observer = _observer, None
    observer.send_signal(_signal.SIGINT)
    try:
        observer.communicate(timeout=60)
    except _subprocess.TimeoutExpired:
        observer.kill()
        observer.communicate()
