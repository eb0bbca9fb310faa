#include "allocator/reference/stream_order/cuda_streams.h"

namespace hbmscope::allocator {
namespace {

constexpr unsigned without_timing = 2;  // CU_EVENT_DISABLE_TIMING
constexpr int not_ready = 600;          // CUDA_ERROR_NOT_READY

}  // namespace

CudaStreams::~CudaStreams() {
  const cuda::Entered entered(*device_.driver, device_.context);
  for (const Event event : spare_) device_.driver->destroy_event(event);
}

Streams::Event CudaStreams::record(Stream stream) {
  const cuda::Entered entered(*device_.driver, device_.context);
  Event event = nullptr;
  if (!spare_.empty()) {
    event = spare_.back();
    spare_.pop_back();
  } else if (device_.driver->create_event(&event, without_timing) != cuda::success) {
    event = nullptr;
  }
  if (event != nullptr && device_.driver->record_event(event, stream) == cuda::success) return event;
  if (event != nullptr) spare_.push_back(event);
  device_.driver->wait_for_device();
  return nullptr;
}

// After a device error no event completes, and nothing runs that could still use the memory.
bool CudaStreams::is_done(Event event) {
  if (event == nullptr) return true;
  const cuda::Entered entered(*device_.driver, device_.context);
  return device_.driver->query_event(event) != not_ready;
}

void CudaStreams::wait(Event event) {
  if (event == nullptr) return;
  const cuda::Entered entered(*device_.driver, device_.context);
  device_.driver->wait_for_event(event);
}

void CudaStreams::forget(Event event) {
  if (event != nullptr) spare_.push_back(event);
}

bool CudaStreams::is_capturing(Stream stream) {
  const cuda::Entered entered(*device_.driver, device_.context);
  int status = 0;
  const int result = device_.driver->capture_status(stream, &status);
  return result == cuda::capture_implicit || (result == cuda::success && status != 0);
}

}  // namespace hbmscope::allocator
