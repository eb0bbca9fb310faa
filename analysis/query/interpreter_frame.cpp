#include "analysis/query/interpreter_frame.h"

#include <algorithm>
#include <array>

#include "analysis/query/profile_view.h"

namespace hbmscope {
namespace {

// Functions of CPython 3.8 to 3.14 without its usual prefix. Most are static, so only a file with full symbols has
// them. `slot_tp_` matches slot_tp_call, slot_tp_init and so on; `python3` matches functions of an interpreter without
// symbols, "python3.11+0x1f2c".
constexpr std::array<std::string_view, 13> name_beginnings = {
    "slot_tp_",   "slot_nb_",          "slot_sq_", "slot_mp_", "slot_am_",   "pymain_",     "binary_op",
    "cfunction_", "method_vectorcall", "pyrun_",   "python3",  "libpython3", "builtin_exec"};
constexpr std::array<std::string_view, 51> names = {
    // Calls.
    "builtin___build_class__", "call_function", "classmethoddescr_call", "context_run", "do_call_core", "filter_next",
    "function_code_fastcall", "functools_reduce", "instancemethod_call", "map_next", "method_call", "object_vacall",
    "partial_call", "partial_vectorcall", "partial_vectorcall_fallback", "property_descr_get", "run_eval_code_obj",
    "run_mod", "type_call", "vectorcall_maybe", "vectorcall_method", "wrap_call", "wrap_init", "wrapper_call",
    "wrapperdescr_call", "zip_next",
    // Caches, generators, tasks, threads.
    "bounded_lru_cache_wrapper", "infinite_lru_cache_wrapper", "lru_cache_call", "uncached_lru_cache_wrapper",
    "gen_iternext", "gen_send_ex", "gen_send_ex2", "task_step", "task_step_impl", "task_wakeup", "pythread_wrapper",
    "t_bootstrap", "thread_run",
    // Deallocators.
    "BaseException_dealloc", "cell_dealloc", "dict_dealloc", "frame_dealloc", "func_dealloc", "list_dealloc",
    "method_dealloc", "odict_dealloc", "subtype_dealloc", "tb_dealloc", "tuple_dealloc", "tupledealloc"};
// Functions through which the systems' C libraries call a program and its threads.
constexpr std::array<std::string_view, 8> starts = {"_start",
                                                    "start_thread",
                                                    "clone",
                                                    "clone3",
                                                    "thread_start",
                                                    "_pthread_start",
                                                    "BaseThreadInitThunk",
                                                    "RtlUserThreadStart"};
// The same for names that no program may use for its own functions: those that begin with two underscores, and the
// function with which libstdc++ starts every std::thread.
constexpr std::array<std::string_view, 4> reserved_beginnings = {"__clone", "__libc_", "__pthread_",
                                                                 "execute_native_thread_routine"};
// The folders of CPython's source.
constexpr std::array<std::string_view, 6> source_folders = {"Objects/",  "Python/", "Modules/",
                                                            "Programs/", "Parser/", "Include/"};

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

template <std::size_t count>
bool begins_with_any(const std::array<std::string_view, count>& beginnings, std::string_view name) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto beginning) { return name.starts_with(beginning); });
}

// As in PyEval_EvalCode, _PyObject_Call_Prepend, Py_BytesMain, _Py_c_pow. CPython 3.6 to 3.13 have 180 such groups of
// functions, PyDescr_ and PyWeakref_ among them; NumPy has groups of the same style.
bool has_prefix_of_python(std::string_view name) {
  constexpr std::array<std::string_view, 4> of_numpy = {"PyArray_", "PyDataMem_", "PyDataType_", "PyUFunc_"};
  if (name.starts_with('_')) name.remove_prefix(1);
  if (!name.starts_with("Py") || begins_with_any(of_numpy, name)) return false;
  name.remove_prefix(2);
  const std::size_t group = name.find('_');
  return group != std::string_view::npos && (group == 0 || (name.front() >= 'A' && name.front() <= 'Z'));
}

// "/home/conda/work/Objects/call.c": any folder may contain CPython's source when it is built.
bool is_in_source_of_python(std::string_view file) {
  if (!file.ends_with(".c") && !file.ends_with(".h")) return false;
  return std::any_of(source_folders.begin(), source_folders.end(), [&](std::string_view folder) {
    const std::size_t at = file.find(folder);
    return at != std::string_view::npos && (at == 0 || file[at - 1] == '/');
  });
}

}  // namespace

bool is_interpreter_frame(std::string_view function, std::string_view file) {
  const bool is_in_python = file.ends_with(".py") || (!file.empty() && file.front() == '<');
  if (is_in_python) return false;
  const std::string_view name = c_name_of(function);
  if (name.empty()) return false;
  if (begins_with_any(reserved_beginnings, name)) return true;
  const bool is_of_python =
      has_prefix_of_python(name) || begins_with_any(name_beginnings, name) || contains(names, name);
  const bool is_somebodys = !file.empty() && !is_library_file(file);
  return is_somebodys ? is_of_python && is_in_source_of_python(file) : is_of_python || contains(starts, name);
}

}  // namespace hbmscope
