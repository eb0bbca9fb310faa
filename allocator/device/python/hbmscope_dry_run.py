"""Reports what a Python process needed of the emulated devices, for the verdict of `hbmscope run --emulate`.

sitecustomize imports this module if HBMSCOPE_DEVICE_REPORT names a folder. When the process ends, it writes PID.json
there: for each device what the driver and the framework's own statistics say, and the exception that ended the process.
Nothing else in the process changes, and a failure in here is never the program's.
"""

import atexit
import json
import os
import sys
import threading

_folder = os.environ["HBMSCOPE_DEVICE_REPORT"]
_failure = None


def _is_of_user(file):
    """Frames of installed packages and of the interpreter are not the user's code."""
    return "site-packages" not in file and not file.startswith(("<", sys.base_prefix + "/lib"))


def _lines_of(trace):
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append({"function": code.co_name, "file": code.co_filename, "line": trace.tb_lineno})
        trace = trace.tb_next
    return [frame for frame in frames if _is_of_user(frame["file"])] or frames


def _note_failure(kind, error, trace):
    global _failure
    try:
        text = str(error)
        is_memory = kind.__name__ == "OutOfMemoryError" or "RESOURCE_EXHAUSTED" in text or "out of memory" in text.lower()
        _failure = {"type": kind.__name__, "text": text[:4000], "is_out_of_memory": is_memory, "frames": _lines_of(trace)[-8:]}
    except Exception:
        pass
    _previous_hook(kind, error, trace)


def _driver_figures():
    """The driver's account of each visible device; `device` is its number among all."""
    import ctypes

    driver = ctypes.CDLL("libcuda.so.1")
    driver.hbmscope_device_account.restype = ctypes.c_bool
    names = ("device", "total_bytes", "context_bytes", "used_bytes", "peak_bytes")
    account = (ctypes.c_longlong * len(names))()
    figures = []
    while driver.hbmscope_device_account(len(figures), account):
        figures.append(dict(zip(names, account)))
    return figures


def _jax_figures():
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is None or not bridge.backends_are_initialized():
        return []
    figures = []
    for device in sys.modules["jax"].local_devices():
        if device.platform not in ("gpu", "cuda"):
            continue
        known = device.memory_stats() or {}
        figures.append(
            {
                "framework": "jax",
                "device": device.local_hardware_id,
                "peak_in_use_bytes": known.get("peak_bytes_in_use"),
                "peak_pool_bytes": known.get("peak_pool_bytes", known.get("pool_bytes")),
                "limit_bytes": known.get("bytes_limit"),
            }
        )
    return figures


def _torch_figures():
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return []
    figures = []
    for device in range(torch.cuda.device_count()):
        known = torch.cuda.memory_stats(device)
        if not known.get("reserved_bytes.all.peak"):
            continue
        figures.append(
            {
                "framework": "torch",
                "device": device,
                "peak_in_use_bytes": known.get("allocated_bytes.all.peak"),
                "peak_pool_bytes": known.get("reserved_bytes.all.peak"),
                "limit_bytes": None,
            }
        )
    return figures


def _write():
    report = {"pid": os.getpid(), "failure": _failure}
    for name, figures in (("driver", _driver_figures), ("jax", _jax_figures), ("torch", _torch_figures)):
        try:
            report[name] = figures()
        except Exception as error:
            report[name] = []
            report.setdefault("problems", []).append(f"{name}: {error}")
    for figure in report["jax"] + report["torch"]:  # They count only the devices that this process sees.
        if figure["device"] < len(report["driver"]):
            figure["device"] = report["driver"][figure["device"]]["device"]
    path = os.path.join(_folder, f"{os.getpid()}.json")
    try:
        with open(path + ".new", "w") as file:
            json.dump(report, file)
        os.rename(path + ".new", path)
    except OSError:
        pass


_previous_hook = sys.excepthook
sys.excepthook = _note_failure
# Before the functions of atexit, as JAX's one takes its devices down.
getattr(threading, "_register_atexit", atexit.register)(_write)
