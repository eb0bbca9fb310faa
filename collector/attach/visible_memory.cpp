#include "collector/attach/visible_memory.h"

#include <algorithm>
#include <cctype>

#include "collector/attach/job_list.h"

namespace hbmscope::attach {
namespace {

using Pool = VisibleMemory::Pool;

bool is_mapped(const std::vector<Mapping>& mappings, std::initializer_list<std::string_view> names) {
  return std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
    const std::string_view file = std::string_view(mapping.path).substr(mapping.path.rfind('/') + 1);
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return file.starts_with(name); });
  });
}

// JAX loads its plugins of GPUs also where it is told to use something else: JAX_PLATFORMS=tpu.
bool may_be_on_gpu(std::string_view environment) {
  const std::string_view platforms = find_variable(environment, "JAX_PLATFORMS").value_or("");
  const auto names = [&](std::string_view one) { return platforms.find(one) != std::string_view::npos; };
  return platforms.empty() || names("cuda") || names("rocm") || names("gpu");
}

Pool find_pool_of_jax(std::string_view environment, const std::vector<std::string>& frameworks) {
  std::string allocator(find_variable(environment, "XLA_PYTHON_CLIENT_ALLOCATOR").value_or(""));
  std::transform(allocator.begin(), allocator.end(), allocator.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (allocator == "cuda_async") return {"JAX", "cudaMallocAsync", true, true};
  const bool is_pool_of_platform = std::any_of(frameworks.begin(), frameworks.end(),
                                               [](const std::string& name) { return name.starts_with("jax 0.10."); });
  if (allocator == "platform" && is_pool_of_platform) return {"JAX", "XLA's BFC", true, true};
  if (allocator == "platform" || allocator == "address" || allocator == "vmm")
    return {"JAX", "XLA_PYTHON_CLIENT_ALLOCATOR=" + allocator, false, false};
  return {"JAX", "XLA's BFC", true, true};
}

Pool find_pool_of_torch(std::string_view environment) {
  for (const std::string_view name : {"PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_HIP_MEMORY_CACHING"})
    if (find_variable(environment, name)) return {"PyTorch", std::string(name), false, false};
  for (const std::string_view name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"})
    if (find_variable(environment, name).value_or("").find("backend:cudaMallocAsync") != std::string_view::npos)
      return {"PyTorch", "backend:cudaMallocAsync", false, false};
  return {"PyTorch", "", true, false};
}

Pool find_pool_of_tensorflow(std::string_view environment) {
  const bool is_async = find_variable(environment, "TF_GPU_ALLOCATOR").value_or("") == "cuda_malloc_async";
  return {"TensorFlow", is_async ? "cudaMallocAsync" : "XLA's BFC", true, false};
}

std::string text_from_pool(const Pool& pool) {
  if (!pool.is_visible) return pool.framework + " without its own pool (" + pool.allocator + ")";
  return "pool of " + pool.framework + (pool.allocator.empty() ? "" : " (" + pool.allocator + ")") +
         (pool.has_arrays ? ", arrays by PJRT" : "");
}

}  // namespace

std::optional<std::string_view> find_variable(std::string_view environment, std::string_view name) {
  for (std::string_view rest = environment; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\0'));
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return line.substr(name.size() + 1);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return std::nullopt;
}

VisibleMemory find_visible_memory(const std::vector<Mapping>& mappings, std::string_view environment,
                                  const std::vector<std::string>& frameworks, bool has_annotations) {
  VisibleMemory visible;
  visible.has_annotations = has_annotations;
  visible.has_driver_calls = has_cuda_driver(mappings);
  if (is_mapped(mappings, {"xla_cuda_plugin", "xla_rocm_plugin"}) && may_be_on_gpu(environment))
    visible.pools.push_back(find_pool_of_jax(environment, frameworks));
  if (is_mapped(mappings, {"libc10_cuda.so", "libc10_hip.so"}))
    visible.pools.push_back(find_pool_of_torch(environment));
  if (is_mapped(mappings, {"libtensorflow_framework"})) visible.pools.push_back(find_pool_of_tensorflow(environment));
  return visible;
}

std::string text_from_visible(const VisibleMemory& visible, std::string_view how) {
  std::string text;
  bool has_more = visible.has_annotations;  // Than calls of the driver.
  const auto add = [&](const std::string& part, const char* between) { text += (text.empty() ? "" : between) + part; };
  for (const Pool& pool : visible.pools) {
    add(text_from_pool(pool), "; ");
    has_more = has_more || pool.is_visible;
  }
  if (visible.has_annotations) add("heaps of annotated allocators", "; ");
  if (visible.has_driver_calls) {
    std::string calls = has_more || how.empty() ? "driver calls" : "only driver calls";
    if (!how.empty()) calls += (has_more ? " " : ", ") + std::string(how);
    add(calls, visible.pools.empty() || has_more ? "; " : ": ");
  }
  return text;
}

}  // namespace hbmscope::attach
