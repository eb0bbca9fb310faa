#include "analysis/query/interpreter_frame.h"

#include <algorithm>
#include <array>

#include "analysis/query/profile_view.h"

namespace hbmscope {
namespace {

// Functions of CPython 3.8 to 3.14 without its usual prefix. Most are static, so only a file with full symbols has
// them. `slot_tp_` matches slot_tp_call, slot_tp_init and so on; `python3` matches functions of an interpreter without
// symbols, "python3.11+0x1f2c".
constexpr std::array<std::string_view, 11> name_beginnings = {"slot_tp_", "slot_nb_", "slot_sq_",   "slot_mp_",
                                                              "slot_am_", "pymain_",  "cfunction_", "method_vectorcall",
                                                              "pyrun_",   "python3",  "libpython3"};
constexpr std::array<std::string_view, 51> names = {
    // Calls.
    "builtin___build_class__", "builtin_exec", "call_function", "classmethoddescr_call", "context_run", "do_call_core",
    "filter_next", "function_code_fastcall", "functools_reduce", "instancemethod_call", "map_next", "method_call",
    "object_vacall", "partial_call", "partial_vectorcall", "partial_vectorcall_fallback", "property_descr_get",
    "run_eval_code_obj", "run_mod", "type_call", "vectorcall_maybe", "vectorcall_method", "wrap_call", "wrap_init",
    "wrapper_call", "wrapperdescr_call", "zip_next",
    // Caches, generators, tasks, threads.
    "bounded_lru_cache_wrapper", "infinite_lru_cache_wrapper", "lru_cache_call", "uncached_lru_cache_wrapper",
    "gen_iternext", "gen_send_ex", "gen_send_ex2", "task_step", "task_step_impl", "task_wakeup", "pythread_wrapper",
    "t_bootstrap", "thread_run",
    // Deallocators.
    "BaseException_dealloc", "cell_dealloc", "dict_dealloc", "frame_dealloc", "func_dealloc", "list_dealloc",
    "method_dealloc", "subtype_dealloc", "tb_dealloc", "tuple_dealloc", "tupledealloc"};
// Functions through which the C library calls a program and its threads.
constexpr std::array<std::string_view, 9> starts = {"_start",
                                                    "__libc_init_first",
                                                    "__libc_start_call_main",
                                                    "__libc_start_main",
                                                    "__libc_start_main_impl",
                                                    "start_thread",
                                                    "clone",
                                                    "clone3",
                                                    "thread_start"};

template <std::size_t count>
bool contains(const std::array<std::string_view, count>& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

// "run_mod.llvm.9196888086361497952", "_PyObject_MakeTpCall.localalias", "tb_dealloc [clone .part.0]": compilers' names
// for copies of C functions. C++ names contain characters that C names can't have.
std::string_view c_name_of(std::string_view function) {
  const std::string_view name = function.substr(0, function.find_first_of(". "));
  return name.find_first_of("(:<~") == std::string_view::npos ? name : std::string_view();
}

// The groups of CPython's C API that occur in stacks. Libraries have other groups, such as NumPy's PyArray_ and
// PyDataMem_.
constexpr std::array<std::string_view, 46> groups = {
    "Py",          "PyArg",     "PyAsyncGen", "PyBool",      "PyBuffer", "PyBytes",
    "PyCFunction", "PyCMethod", "PyCapsule",  "PyCell",      "PyCode",   "PyContext",
    "PyCoro",      "PyDict",    "PyErr",      "PyEval",      "PyFloat",  "PyFrame",
    "PyFunction",  "PyGC",      "PyGen",      "PyImport",    "PyInit",   "PyInterpreterState",
    "PyIter",      "PyList",    "PyLong",     "PyMapping",   "PyMem",    "PyMethod",
    "PyModule",    "PyNumber",  "PyOS",       "PyObject",    "PyRun",    "PySequence",
    "PySet",       "PySlice",   "PyStack",    "PySys",       "PyThread", "PyThreadState",
    "PyTuple",     "PyType",    "PyUnicode",  "PyVectorcall"};

// As in PyEval_EvalCode, _PyObject_Call_Prepend, Py_BytesMain, _Py_c_pow.
bool has_prefix_of_python(std::string_view name) {
  if (name.starts_with('_')) name.remove_prefix(1);
  const std::string_view group = name.substr(0, name.find('_'));
  return group.size() < name.size() && contains(groups, group);
}

}  // namespace

bool is_interpreter_frame(std::string_view function, std::string_view file) {
  const bool is_somebodys = !file.empty() && (file.ends_with(".py") || file.front() == '<' || !is_library_file(file));
  if (is_somebodys) return false;
  const std::string_view name = c_name_of(function);
  if (name.empty()) return false;
  const bool has_beginning = std::any_of(name_beginnings.begin(), name_beginnings.end(),
                                         [&](std::string_view beginning) { return name.starts_with(beginning); });
  const std::string_view start = name.starts_with("__clone") ? name.substr(2) : name;
  return has_prefix_of_python(name) || has_beginning || contains(names, name) || contains(starts, start);
}

}  // namespace hbmscope
