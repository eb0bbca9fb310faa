// The script that `hbmscope tpu compile` runs in the user's own Python. It calls the named function, compiles the
// result for a topology without a TPU, and writes the outcome as JSON. Arguments: script, function, topology, folder
// for the dump, file for the answer.
#pragma once

namespace hbmscope::cli {

inline constexpr const char* tpu_compile_driver = R"PYTHON(
import collections, importlib.util, inspect, json, math, os, signal, sys, traceback

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends this at once, in the compiler too.
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: nobody would be left to read the answer.
except Exception:
    pass

script, function, topology, dump, answer = sys.argv[1:6]


def say(error):
    trace = error.__traceback__.tb_next if error.__traceback__ else None  # Without this file's own line.
    return {"text": f"{type(error).__name__}: {error}", "traceback": "".join(traceback.format_exception(type(error), error, trace))}


def figures_of(program):
    """What is known of a program on one device without the compiler: unpadded bytes of arguments and outputs, and of outputs
    as large as an argument that is kept."""
    arguments = jax.tree.leaves(program.args_info, is_leaf=lambda leaf: hasattr(leaf, "donated"))
    outputs = jax.tree.leaves(program.out_info, is_leaf=lambda leaf: hasattr(leaf, "dtype"))
    size = lambda each: each.dtype.itemsize * math.prod(each.shape)
    kind = lambda each: (tuple(each.shape), str(each.dtype))
    left = collections.Counter(map(kind, outputs))
    donatable = 0
    for each in sorted(arguments, key=lambda each: not each.donated):
        if left[kind(each)] > 0:
            left[kind(each)] -= 1
            donatable += 0 if each.donated else size(each)
    return {"argument": sum(map(size, arguments)), "output": sum(map(size, outputs)), "donatable": donatable}


def leave(**what):
    with open(answer, "w") as file:
        json.dump(what, file)
    sys.exit(0)


os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
os.environ.setdefault("TPU_WORKER_ID", "0")
os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_dump_to={dump} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"
try:
    import jax
    from jax.experimental import topologies
except ImportError as error:
    leave(missing="jax", text=str(error))
if importlib.util.find_spec("libtpu") is None:
    leave(missing="libtpu", text="there is no module 'libtpu'")
try:
    # JAX on a v4 has one device a chip, of both cores; the compiler's own default is one a core.
    settings = {"chip_config_name": "megacore"} if topology.startswith("v4:") else {}
    devices = topologies.get_topology_desc(platform="tpu", topology_name=topology, **settings).devices
except Exception as error:
    leave(refused="topology", text=str(error))
try:
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    sys.argv = [script]  # The script may parse its own.
    spec = importlib.util.spec_from_file_location("hbmscope_script", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, function):
        leave(refused="function", text=f"{script} has no '{function}'")
    try:
        inspect.signature(getattr(module, function)).bind()
    except TypeError as error:
        leave(refused="function", text=f"'{function}' takes arguments ({error}), but must be a function without any that returns (function, args, kwargs), with jax.ShapeDtypeStruct for arrays")
    program = getattr(module, function)()
    is_on_one_device = not hasattr(program, "compile")  # As far as it is known here.
    if is_on_one_device:
        called, arguments, keywords = program
        sharding = jax.sharding.SingleDeviceSharding(devices[0])

        def placed(leaf):
            global is_on_one_device
            known = getattr(leaf, "sharding", None)
            is_on_one_device = is_on_one_device and known is None
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=known or sharding)

        arguments, keywords = jax.tree.map(placed, (tuple(arguments), dict(keywords)))
        called = called if hasattr(called, "lower") else jax.jit(called)
        program = called.lower(*arguments, **keywords)
except SystemExit:
    raise
except BaseException as error:
    leave(refused="script", **say(error))
try:
    memory = program.compile().memory_analysis()
except Exception as error:
    if "RESOURCE_EXHAUSTED" not in str(error):
        leave(refused="compile", **say(error))
    try:
        figures = figures_of(program) if is_on_one_device else None
    except Exception:
        figures = None
    leave(refused="memory", text=f"{type(error).__name__}: {error}", figures=figures)
names = ("argument", "output", "alias", "temp", "generated_code", "host_temp")
leave(memory={name: getattr(memory, f"{name}_size_in_bytes") for name in names},
      device_kind=devices[0].device_kind, devices=len(devices), jax=jax.__version__)
)PYTHON";

}  // namespace hbmscope::cli
