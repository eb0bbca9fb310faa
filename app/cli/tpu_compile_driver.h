// What `hbmscope tpu compile` runs in the person's own Python: it calls the named function, compiles what that returns
// for a topology with no TPU, and writes what came of it as JSON. Arguments: script, function, topology, folder for the
// dump, file for the answer.
#pragma once

namespace hbmscope::cli {

inline constexpr const char* tpu_compile_driver = R"PYTHON(
import importlib.util, json, os, sys, traceback

script, function, topology, dump, answer = sys.argv[1:6]


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
    devices = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices
except Exception as error:
    leave(refused="topology", text=str(error))
try:
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    spec = importlib.util.spec_from_file_location("hbmscope_script", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, function):
        leave(refused="function", text=f"{script} has no '{function}'")
    program = getattr(module, function)()
    if not hasattr(program, "compile"):
        called, arguments, keywords = program
        sharding = jax.sharding.SingleDeviceSharding(devices[0])

        def placed(leaf):
            known = getattr(leaf, "sharding", None)
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=known or sharding)

        arguments, keywords = jax.tree.map(placed, (tuple(arguments), dict(keywords)))
        called = called if hasattr(called, "lower") else jax.jit(called)
        program = called.lower(*arguments, **keywords)
except SystemExit:
    raise
except BaseException:
    leave(refused="script", text=traceback.format_exc())
try:
    memory = program.compile().memory_analysis()
except Exception as error:
    leave(refused="memory" if "RESOURCE_EXHAUSTED" in str(error) else "compile", text=f"{type(error).__name__}: {error}")
names = ("argument", "output", "alias", "temp", "generated_code", "host_temp")
leave(memory={name: getattr(memory, f"{name}_size_in_bytes") for name in names},
      device_kind=devices[0].device_kind, devices=len(devices), jax=jax.__version__)
)PYTHON";

}  // namespace hbmscope::cli
