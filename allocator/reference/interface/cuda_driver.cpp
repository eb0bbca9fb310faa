#include "allocator/reference/interface/cuda_driver.h"

#include <dlfcn.h>

#include <cstring>

namespace hbmscope::allocator::cuda {
namespace {

using Refusal = tl::unexpected<std::string>;

tl::expected<Driver, std::string> find_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Refusal("there is no CUDA driver here (" + std::string(dlerror()) +
                   "): it comes with NVIDIA's kernel driver, in a container by its run time");
  Driver driver;
  // Stores the result of dlsym in a function pointer; POSIX guarantees that this works.
#define HBMSCOPE_CUDA_FIND(member, name, parameters)                                                         \
  {                                                                                                          \
    void* const found = dlsym(library, name);                                                                \
    if (found == nullptr) return Refusal("the CUDA driver here is too old: it has no " + std::string(name)); \
    std::memcpy(&driver.member, &found, sizeof(found));                                                      \
  }
  HBMSCOPE_CUDA_CALLS(HBMSCOPE_CUDA_FIND)
#undef HBMSCOPE_CUDA_FIND
  if (const int result = driver.init(0); result != success)
    return Refusal("the CUDA driver does not start: cuInit answered " + std::to_string(result) +
                   (result == 100 ? ", no device" : ""));
  return driver;
}

}  // namespace

tl::expected<const Driver*, std::string> load_driver() {
  static const tl::expected<Driver, std::string> found = find_driver();
  if (!found) return Refusal(found.error());
  return &*found;
}

Entered::Entered(const Driver& driver, Object context) : driver_(driver) {
  if (driver_.current_context(&before_) != success) before_ = nullptr;
  has_changed_ = before_ != context;
  if (has_changed_) driver_.set_current_context(context);
  has_mode_ = driver_.exchange_capture_mode(&capture_mode_) == success;
}

Entered::~Entered() {
  if (has_mode_) driver_.exchange_capture_mode(&capture_mode_);
  if (has_changed_) driver_.set_current_context(before_);
}

tl::expected<OpenDevice, std::string> open_device(int ordinal) {
  const auto driver = load_driver();
  if (!driver) return Refusal(driver.error());
  int count = 0, device = 0;
  if ((*driver)->device_count(&count) != success) count = 0;
  if (ordinal < 0 || ordinal >= count)
    return Refusal("there is no device " + std::to_string(ordinal) + ": the CUDA driver has " + std::to_string(count));
  OpenDevice open{*driver, ordinal, nullptr, 0};
  int result = (*driver)->device_get(&device, ordinal);
  if (result == success) result = (*driver)->primary_context(&open.context, device);
  if (result != success)
    return Refusal("device " + std::to_string(ordinal) + " can't be used: the CUDA driver answered " +
                   std::to_string(result));
  const Entered entered(**driver, open.context);
  std::size_t free = 0, total = 0;
  result = (*driver)->memory_info(&free, &total);
  if (result != success || total == 0)
    return Refusal("device " + std::to_string(ordinal) +
                   " does not say how much memory it has: cuMemGetInfo answered " + std::to_string(result));
  open.total_bytes = total;
  return open;
}

}  // namespace hbmscope::allocator::cuda
