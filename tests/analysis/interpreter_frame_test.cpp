#include "analysis/query/interpreter_frame.h"

#include <gtest/gtest.h>

namespace hbmscope {
namespace {

TEST(InterpreterFrame, functions_of_python_are_known_as_compilers_name_them) {
  for (const char* function :
       {"_PyEval_EvalFrameDefault", "PyObject_Call", "Py_RunMain.localalias", "PyInit__collections", "_Py_c_pow",
        "method_vectorcall.llvm.12275804309777372242", "_PyObject_VectorcallTstate.lto_priv.4", "slot_nb_multiply",
        "vectorcall_maybe.constprop.0", "tb_dealloc [clone .part.0]", "cfunction_call", "pymain_run_file_obj",
        "run_mod", "thread_run", "_start", "__libc_start_main", "__clone3", "clone"})
    for (const char* file : {"", "??"}) EXPECT_TRUE(is_interpreter_frame(function, file)) << function << " " << file;
}

TEST(InterpreterFrame, their_files_may_be_known) {
  EXPECT_TRUE(is_interpreter_frame("PyEval_EvalCode", "/usr/local/src/conda/python-3.10.14/Python/ceval.c"));
  EXPECT_TRUE(is_interpreter_frame("_PyEval_EvalFrame", "./Include/internal/pycore_ceval.h"));
  EXPECT_TRUE(is_interpreter_frame("start_thread", "/build/glibc-B3wQXB/glibc-2.31/nptl/pthread_create.c"));
  EXPECT_TRUE(is_interpreter_frame("__libc_start_main_impl", "../csu/libc-start.c"));
  EXPECT_TRUE(is_interpreter_frame("PyObject_Call", "/usr/bin/python3.11"));
  EXPECT_TRUE(is_interpreter_frame("python3.11+0x1f2c", "/usr/bin/python3.11"));
  EXPECT_TRUE(is_interpreter_frame("libpython3.12.so.1.0+0x99", "/opt/lib/libpython3.12.so.1.0"));
}

TEST(InterpreterFrame, all_groups_of_functions_of_the_c_api_are_known_by_their_style) {
  for (const char* function : {"PyDescr_IsData", "PyWeakref_NewProxy", "PyCallable_Check", "_PyHamt_Find",
                               "PyUnstable_Code_New", "binary_op1", "builtin_exec_impl", "odict_dealloc"})
    EXPECT_TRUE(is_interpreter_frame(function, "??")) << function;
  EXPECT_FALSE(is_interpreter_frame("PyUFunc_GenericFunction", "??"));
  EXPECT_FALSE(is_interpreter_frame("Pyramid_build", "??"));
}

TEST(InterpreterFrame, starters_of_threads_are_known_in_any_file) {
  for (const char* file :
       {"", "??", "thread48.o", "/opt/conda/gcc/libstdc++-v3/src/c++11/thread.cc", "/home/me/libstdc++/thread.cc"})
    EXPECT_TRUE(is_interpreter_frame("execute_native_thread_routine", file)) << file;
  EXPECT_TRUE(is_interpreter_frame("__clone3", "./misc/../sysdeps/unix/sysv/linux/x86_64/clone3.S"));
  EXPECT_TRUE(is_interpreter_frame("__clone3", "/home/builder/libc/clone3.S"));
  EXPECT_TRUE(is_interpreter_frame("__pthread_create_2_1", "/home/builder/libc/create.c"));
  EXPECT_FALSE(is_interpreter_frame("start_thread", "/home/me/worker.c")) << "anybody may name a function so";
  EXPECT_FALSE(is_interpreter_frame("__clone3", "/home/me/train.py"));
}

TEST(InterpreterFrame, python_may_have_been_built_in_any_folder) {
  EXPECT_TRUE(is_interpreter_frame("_PyEval_EvalFrameDefault", "/home/conda/work/build/Python/ceval.c"));
  EXPECT_TRUE(is_interpreter_frame("cfunction_call", "Objects/methodobject.c"));
  EXPECT_FALSE(is_interpreter_frame("PyCounter_new", "/home/me/My_Objects/counter.c"));
}

TEST(InterpreterFrame, what_a_person_or_a_library_wrote_stays) {
  EXPECT_FALSE(is_interpreter_frame("run_mod", "/home/me/train.py")) << "a function of that name in Python";
  EXPECT_FALSE(is_interpreter_frame("run_mod", "/v/site-packages/torch/hub.py"));
  EXPECT_FALSE(is_interpreter_frame("PyCounter_new", "/home/me/counter/counter.c")) << "an extension with its source";
  EXPECT_FALSE(is_interpreter_frame("PyArray_NewFromDescr", "??"));
  EXPECT_FALSE(is_interpreter_frame("PyDataMem_UserNEW", "??"));
  EXPECT_FALSE(is_interpreter_frame("torch::autograd::THPVariable_add(_object*, _object*, _object*)", ""));
  EXPECT_FALSE(is_interpreter_frame("_object* torch::autograd::wrap<&f>(_object*)", "??"));
  EXPECT_FALSE(is_interpreter_frame("THPVariable_subclass_dealloc(_object*)", "??"));
  EXPECT_FALSE(is_interpreter_frame("pybind11::cpp_function::dispatcher(_object*)", "??"));
  EXPECT_FALSE(is_interpreter_frame("aten::empty", "<operator>"));
  EXPECT_FALSE(is_interpreter_frame("clone", "<built-in>"));
  EXPECT_FALSE(is_interpreter_frame("main", "??"));
  EXPECT_FALSE(is_interpreter_frame("PyTorch", "??")) << "no group of functions";
  EXPECT_FALSE(is_interpreter_frame("", ""));
}

}  // namespace
}  // namespace hbmscope
