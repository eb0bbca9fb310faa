// What PyTorch's libc10.so exports: the functions that its allocator reports to.
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace c10 {

struct Device {
  std::int8_t type, index;
};
std::atomic<long> reports{0};

__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(void*, std::int64_t, std::size_t, std::size_t,
                                                                        Device) {
  ++reports;
}
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(std::int64_t, std::size_t, std::size_t,
                                                                        Device) {
  ++reports;
}

}  // namespace c10

// How often PyTorch's own functions were called.
extern "C" __attribute__((visibility("default"))) long count_reports() {
  return c10::reports;
}
