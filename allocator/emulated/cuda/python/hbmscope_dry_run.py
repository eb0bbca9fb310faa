"""Reports what a Python process needed of the emulated devices, for the verdict of `hbmscope run --emulate`.

sitecustomize imports this module if HBMSCOPE_DEVICE_REPORT names a folder. When the process ends, it writes PID.json
there: the frameworks' own statistics, whether PyTorch's optimizers made a step, and the exception that ended the process
or one of its threads. The driver keeps its account of the devices itself. Nothing else in the process changes, and a
failure in here is never the program's.
"""

import atexit
import json
import os
import sys
import threading

import hbmscope_imports

_folder = os.environ["HBMSCOPE_DEVICE_REPORT"]
_thread_failure = None
_optimizer_steps = None  # Of PyTorch; None: not counted.
_jax_errors = None  # How often JAX's lack of memory reached the program as an exception; None: not counted.

# torch_xla shows the text of a TPU's error without its code.
_SIGNS_OF_TPU = ("Ran out of memory in memory space", "Error allocating device buffer", "Error loading program")


def _is_of_user(file):
    """Frames of installed packages and of the interpreter are not the user's code."""
    return "site-packages" not in file and "dist-packages" not in file and not file.startswith(("<", sys.base_prefix + "/lib"))


def _frames_of(trace):
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append({"function": code.co_name, "file": code.co_filename, "line": trace.tb_lineno})
        trace = trace.tb_next
    return [frame for frame in frames if _is_of_user(frame["file"])] or frames


def _is_lack_of_memory(error):
    """Of a device. Other things run out too: the host's memory, a kernel's shared memory, a server's quota."""
    if isinstance(error, (MemoryError, OSError)):
        return False
    if type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error)
    if "RESOURCE_EXHAUSTED" in text:
        return any(sign in text.lower() for sign in ("out of memory", "allocat", "to reserve", "exceeding available", "to have enough memory"))
    return any(sign in text for sign in ("CUDA out of memory", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA error: out of memory", "cudaErrorMemoryAllocation", "OOM when allocating", *_SIGNS_OF_TPU))


def _all_of(error):
    """The exception, and those that it was raised from or stands for."""
    waiting, seen = [error], []
    while waiting and len(seen) < 100:
        one = waiting.pop(0)
        if one is None or any(one is other for other in seen):
            continue
        seen.append(one)
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return seen


def _described(error):
    memory = [one for one in _all_of(error) if _is_lack_of_memory(one)]
    shown = memory[0] if memory else error
    return {
        "type": type(shown).__name__,
        "text": str(shown)[:4000],
        "is_out_of_memory": bool(memory),
        "frames": _frames_of(shown.__traceback__)[-8:],
    }


def _find_failure():
    """What ended this process: the interpreter has noted it before it called anybody's sys.excepthook."""
    error = getattr(sys, "last_value", None)
    if isinstance(error, BaseException):
        return _described(error)
    return _thread_failure


def _note_thread_failure(arguments):
    global _thread_failure
    try:
        if _thread_failure is None and arguments.exc_value is not None and not isinstance(arguments.exc_value, SystemExit):
            _thread_failure = {**_described(arguments.exc_value), "is_of_thread": True}
    except Exception:
        pass
    _previous_hook(arguments)


def _has_ended_with_error():
    """A process of `multiprocessing` prints its exception itself, and keeps nothing of it but its exit code."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_bootstrap" and frame.f_globals.get("__name__") == "multiprocessing.process":
            return bool(frame.f_locals.get("exitcode"))
        frame = frame.f_back
    return False


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
        refused = known.get("num_ooms") or 0
        if not known.get("reserved_bytes.all.peak") and not refused:
            continue
        fraction = getattr(torch.cuda, "get_per_process_memory_fraction", lambda device: 1.0)(device)
        figures.append(
            {
                "framework": "torch",
                "device": device,
                "peak_in_use_bytes": known.get("allocated_bytes.all.peak"),
                "peak_pool_bytes": known.get("reserved_bytes.all.peak"),
                "pool_limit_bytes": int(fraction * torch.cuda.get_device_properties(device).total_memory) if fraction < 1 else None,
                "refused_requests": refused,
            }
        )
    return figures


def _note_step(*_):
    global _optimizer_steps
    _optimizer_steps += 1


def _count_steps(module):
    """PyTorch has this function since 2.0."""
    global _optimizer_steps
    try:
        module.register_optimizer_step_post_hook(_note_step)
        _optimizer_steps = 0
    except Exception:
        pass


def _count_errors(jax):
    """JAX computes after it has returned, and raises what failed where a value is read: perhaps nowhere."""
    global _jax_errors

    def begin(self, *words, **more):
        global _jax_errors
        real(self, *words, **more)
        if any("RESOURCE_EXHAUSTED" in str(word) for word in words):
            _jax_errors += 1

    try:
        real = jax.errors.JaxRuntimeError.__init__
        jax.errors.JaxRuntimeError.__init__ = begin
        _jax_errors = 0
    except Exception:
        pass


def _training():
    module = sys.modules.get("torch.optim.optimizer")
    if module is None:
        return None
    kinds = [module.Optimizer]
    for kind in kinds:
        kinds += kind.__subclasses__()
    # The first optimizer of a class gives its step() this attribute.
    has_optimizer = any(getattr(kind.__dict__.get("step"), "hooked", False) for kind in kinds)
    return {"has_optimizer": has_optimizer, "steps": _optimizer_steps}


def _tensorflow_figures():
    context = sys.modules.get("tensorflow.python.eager.context")
    handle = context and context.context()._context_handle  # None before the first use.
    if not handle:
        return []
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.client import pywrap_tf_session

    limits = {}
    devices = pywrap_tfe.TFE_ContextListDevices(handle)
    for i in range(pywrap_tf_session.TF_DeviceListCount(devices)):
        if pywrap_tf_session.TF_DeviceListType(devices, i) == "GPU":
            limits[pywrap_tf_session.TF_DeviceListName(devices, i)] = pywrap_tf_session.TF_DeviceListMemoryBytes(devices, i)
    figures = []
    for name, limit in limits.items():
        number = int(name.rsplit(":", 1)[1])
        figures.append(
            {
                "framework": "tensorflow",
                "device": number,
                "peak_in_use_bytes": context.context().get_memory_info(f"GPU:{number}")["peak"],
                "limit_bytes": limit,
            }
        )
    return figures


def _visible_devices():
    """The machine's numbers of the devices that this process sees: frameworks count only those."""
    import ctypes

    number_of = ctypes.CDLL("libcuda.so.1").hbmscope_device_number
    return [number_of(device) for device in range(16) if number_of(device) >= 0]


def _write():
    report = {"pid": os.getpid(), "failure": None, "jax_errors": _jax_errors, "frameworks": [], "problems": []}
    try:
        report["failure"] = _find_failure()
        report["has_ended_with_error"] = _has_ended_with_error()
    except Exception as error:
        report["problems"].append(f"failure: {error}")
    try:
        values = sys.modules.get("hbmscope_values")
        report["assumed"] = values.assumptions() if values else []
    except Exception as error:
        report["problems"].append(f"values: {error}")
    try:
        report["training"] = _training()
    except Exception as error:
        report["problems"].append(f"training: {error}")
    for figures in (_jax_figures, _torch_figures, _tensorflow_figures):
        try:
            report["frameworks"] += figures()
        except Exception as error:
            report["problems"].append(f"{figures.__name__}: {error}")
    try:
        if report["frameworks"]:
            visible = _visible_devices()
            for figure in report["frameworks"]:
                figure["ordinal"] = figure["device"]
                figure["device"] = visible[figure["ordinal"]]
    except Exception as error:
        report["problems"].append(f"devices: {error}")
    path = os.path.join(_folder, f"{os.getpid()}.json")
    try:
        text = json.dumps(report, ensure_ascii=False)
        with open(path + ".new", "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        os.rename(path + ".new", path)
    except (OSError, ValueError):
        pass


def _finish():
    """The interpreter waits for these threads anyway, right after this; they may still need memory."""
    try:
        for thread in threading.enumerate():
            if not thread.daemon and thread is not threading.current_thread() and thread is not threading.main_thread():
                thread.join()
    finally:
        _write()


hbmscope_imports.change({"torch.optim.optimizer": _count_steps, "jax": _count_errors})
_previous_hook = threading.excepthook
threading.excepthook = _note_thread_failure
# Before the functions of atexit, as JAX's one takes its devices down.
getattr(threading, "_register_atexit", atexit.register)(_finish)
