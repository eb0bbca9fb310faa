#include <gtest/gtest.h>

#include "analysis/query/profile_view.h"

namespace hbmscope {
namespace {

TEST(FileNames, tails_are_what_two_machines_have_in_common) {
  EXPECT_EQ(file_tail("/srv/venv/lib/python3.11/site-packages/jax/_src/api.py"), "jax/_src/api.py");
  EXPECT_EQ(file_tail("site-packages/jax/_src/api.py"), "jax/_src/api.py");
  EXPECT_EQ(file_tail("/usr/lib/python3/dist-packages/numpy/core.py"), "numpy/core.py");
  EXPECT_EQ(file_tail("/usr/lib/python3.11/contextlib.py"), "contextlib.py");
  EXPECT_EQ(file_tail("/usr/lib/python3.11/asyncio/events.py"), "asyncio/events.py");
  EXPECT_EQ(file_tail("/home/me/proj/train.py"), "train.py");
  EXPECT_EQ(file_tail("C:\\work\\train.py"), "train.py");
  EXPECT_EQ(file_tail("/tmp/ipykernel_35137/199179691.py"), "<notebook>");
  EXPECT_EQ(file_tail("train.py"), "train.py");
  EXPECT_EQ(file_tail(""), "");
}

TEST(FileNames, libraries_are_what_was_installed) {
  EXPECT_TRUE(is_library_file("/v/lib/python3.11/site-packages/jax/api.py"));
  EXPECT_TRUE(is_library_file("site-packages/jax/api.py"));
  EXPECT_TRUE(is_library_file("/usr/lib/python3.11/runpy.py"));
  EXPECT_TRUE(is_library_file("<frozen importlib._bootstrap>"));
  EXPECT_TRUE(is_library_file("D:\\work\\.venv\\Lib\\site-packages\\torch\\functional.py"));
  EXPECT_TRUE(is_library_file("C:\\Python311\\Lib\\contextlib.py"));
  EXPECT_TRUE(is_library_file("??")) << "C++ without symbols";
  EXPECT_TRUE(is_library_file("CUDACachingAllocator.cpp")) << "C++ with stripped symbols";
  EXPECT_TRUE(is_library_file("../csu/libc-start.c"));
  EXPECT_TRUE(is_library_file("torch/nn/functional.py")) << "of a Kineto trace";
  EXPECT_TRUE(is_library_file("/usr/local/src/conda/python-3.10.14/Objects/descrobject.c"));
  EXPECT_TRUE(is_library_file("/usr/local/src/conda/python-3.10.14/Include/internal/pycore_ceval.h"));
  EXPECT_TRUE(is_library_file("/home/conda/feedstock_root/build_artifacts/gcc/libstdc++-v3/src/c++11/thread.cc"));
  EXPECT_FALSE(is_library_file("/home/me/python-3d/engine/call.c"));
  EXPECT_TRUE(is_library_file("typing.py"));
  EXPECT_TRUE(is_library_file("<operator>"));
  EXPECT_FALSE(is_library_file("/home/me/torch/train.py"));
  EXPECT_FALSE(is_library_file("/home/me/kernels/attention.cpp"));
  EXPECT_FALSE(is_library_file("D:\\work\\model.py"));
  EXPECT_FALSE(is_library_file("C:\\Python311\\train.py"));
  EXPECT_FALSE(is_library_file("/home/me/train.py"));
  EXPECT_FALSE(is_library_file("/home/me/lib/python_code/train.py")) << "a person's own folder";
  EXPECT_FALSE(is_library_file("/home/me/lib/python/train.py"));
  EXPECT_FALSE(is_library_file("/home/me/site-packages"));
  EXPECT_FALSE(is_library_file(""));
}

TEST(FileNames, packages) {
  EXPECT_EQ(package_of("/v/site-packages/jax/_src/api.py", "f"), "jax");
  EXPECT_EQ(package_of("/v/site-packages/six.py", "f"), "six");
  EXPECT_EQ(package_of("/usr/lib/python3.11/runpy.py", "f"), "<python>");
  EXPECT_EQ(package_of("<frozen runpy>", "f"), "<python>");
  EXPECT_EQ(package_of("/home/me/train.py", "f"), "train.py");
  EXPECT_EQ(package_of("/go/src/net/http/server.go", "net/http.(*conn).serve"), "net/http");
  EXPECT_EQ(package_of("/app/main.go", "main.main"), "main");
  EXPECT_EQ(package_of("/go/src/slices/sort.go", "slices.Sort[go.shape.[]example.com/x/y.T]"), "slices");
}

}  // namespace
}  // namespace hbmscope
