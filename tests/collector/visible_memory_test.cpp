// What can be seen of a job before hbmscope is attached to it.
#include "collector/attach/visible_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::attach {
namespace {

std::string visible(const std::vector<std::string>& libraries, std::string_view environment = {},
                    const std::vector<std::string>& frameworks = {}, bool has_annotations = false) {
  std::vector<Mapping> mappings(1);  // The first one has no file.
  for (const std::string& library : libraries) {
    mappings.emplace_back();
    mappings.back().path = library;
  }
  return text_from_visible(find_visible_memory(mappings, environment, frameworks, has_annotations));
}

const std::string driver = "/usr/lib/libcuda.so.1", xla = "/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so",
                  torch = "/site-packages/torch/lib/libc10_cuda.so";

TEST(VisibleMemory, pools_by_the_libraries_that_are_loaded) {
  EXPECT_EQ("", visible({"/usr/bin/python3"}));
  EXPECT_EQ("pool of JAX (XLA's BFC), arrays by PJRT", visible({xla}));
  EXPECT_EQ("pool of JAX (XLA's BFC), arrays by PJRT; driver calls by CUPTI if it is free", visible({driver, xla}));
  EXPECT_EQ("pool of PyTorch; driver calls by CUPTI if it is free", visible({torch, driver}));
  EXPECT_EQ("pool of TensorFlow (XLA's BFC)", visible({"/tensorflow/libtensorflow_framework.so.2"}));
  EXPECT_EQ("pool of JAX (XLA's BFC), arrays by PJRT; pool of PyTorch; driver calls by CUPTI if it is free",
            visible({torch, driver, xla}));
  EXPECT_EQ("only driver calls, by CUPTI if it is free", visible({driver}));
  EXPECT_EQ("heaps of annotated allocators", visible({}, {}, {}, true));
}

TEST(VisibleMemory, settings_that_leave_no_pool) {
  using namespace std::string_view_literals;
  EXPECT_EQ("PyTorch without its own pool (PYTORCH_NO_CUDA_MEMORY_CACHING): only driver calls, by CUPTI if it is free",
            visible({torch, driver}, "HOME=/root\0PYTORCH_NO_CUDA_MEMORY_CACHING=1\0"sv));
  EXPECT_EQ("PyTorch without its own pool (backend:cudaMallocAsync)",
            visible({torch}, "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64,backend:cudaMallocAsync"sv));
  EXPECT_EQ("pool of JAX (cudaMallocAsync), arrays by PJRT",
            visible({xla}, "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"sv));
  const auto platform = "XLA_PYTHON_CLIENT_ALLOCATOR=Platform\0"sv;
  EXPECT_EQ("JAX without its own pool (XLA_PYTHON_CLIENT_ALLOCATOR=platform)", visible({xla}, platform, {"jax 0.6.2"}));
  EXPECT_EQ("pool of JAX (XLA's BFC), arrays by PJRT", visible({xla}, platform, {"jax 0.10.2"}));
  EXPECT_EQ("pool of TensorFlow (cudaMallocAsync)",
            visible({"/libtensorflow_framework.so.2"}, "\0TF_GPU_ALLOCATOR=cuda_malloc_async"sv));
  EXPECT_EQ("pool of PyTorch",
            visible({torch}, "XPYTORCH_NO_CUDA_MEMORY_CACHING=1\0PYTORCH_NO_CUDA_MEMORY_CACHINGS=1"sv));
}

}  // namespace
}  // namespace hbmscope::attach
