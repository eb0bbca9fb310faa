// Turns driver calls into rows, whichever back end reports them (back_end.h). driver_entries.inc uses the functions
// below. None may be called before is_observed() has returned true. Both APIs use them: "the driver" is also AMD's HIP
// runtime, whose differences are in hip_calls.h.
#pragma once

#include "collector/inject/back_end.h"
#include "collector/inject/cupti_callbacks.h"
#include "collector/inject/driver_symbols.h"
#include "collector/inject/rings.h"
#include "collector/inject/stacks.h"

namespace hbmscope::inject {

// Connects to the observer at the first call. False: there is no observer.
bool is_observed();

struct DriverCall;
namespace driver {
void report_waiting_pools(const DriverCall& call);  // driver_pools.h
void prepare_for_rows(DriverCall& call);            // hip_calls.h
bool may_ask_hip();
void forget_hip_failure();
}  // namespace driver

template <class... Parameters>
cuda::Result ask_driver(Api api, Helper which, Parameters... parameters) {
  const auto function = reinterpret_cast<cuda::Result (*)(Parameters...)>(find_helper(api, which));
  if (function == nullptr || (api == Api::hip && !driver::may_ask_hip())) return cuda::error_no_device;
  const cuda::Result result = function(parameters...);
  if (api == Api::hip && result != cuda::success) driver::forget_hip_failure();
  return result;
}

// What a refused call requested, and of which memory: made by of_device() and its like below. A number does not
// convert, so no row of the tables can leave the memory out.
struct RefusedRequest {
  static constexpr std::uint32_t of_the_thread = ~0U;  // The heap of the calling thread's device.
  std::uint64_t bytes = 0;                             // 0: unknown, or the call requests none.
  std::uint32_t heap = of_the_thread;                  // 0: unknown.
  bool is_from_device = false;  // Straight from the device, so what is free there is reported with the refusal.

  RefusedRequest(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): a literal 0, for a call that requests none.
  RefusedRequest(std::uint64_t requested, std::uint32_t of_heap, bool from_device = false)
      : bytes(requested), heap(of_heap), is_from_device(from_device) {}
};

// A driver call, from either back end, with everything that its rows need.
struct DriverCall {
  const Entry entry;
  // For a call that frees memory: its start time, which is the time of its rows. 0: it is not recorded.
  std::uint64_t since = 0;
  int known_device = -1;                 // The calling thread's. At -1 it is unknown, and the driver may be queried.
  cuda::Object known_context = nullptr;  // The calling thread's context.

  Api api() const { return api_of(entry); }
  bool is_hip() const { return api() == Api::hip; }
  bool may_ask_driver() const { return known_device < 0 || is_hip(); }
  // Calls a function of the driver for ourselves, with exactly the types of its parameters. Anything but success: the
  // driver does not have it, or it has failed. HIP's is not called while it would change the thread's last error.
  template <class... Parameters>
  cuda::Result ask(Helper which, Parameters... parameters) const {
    return ask_driver(api(), which, parameters...);
  }
  cuda::Device device() const;
  cuda::Object context() const;               // Null: none, or the driver can't be queried.
  void refuse(RefusedRequest request) const;  // The driver is out of memory.

 private:
  std::uint64_t free_bytes() const;  // The thread's device counts.
};

// A call of the program that arrived at our entry point, until the end of its scope. Calls that the driver makes for
// itself meanwhile are part of it and are not recorded.
class InterposedCall : public DriverCall {
 public:
  InterposedCall(Entry which, unsigned place_of_target)
      : DriverCall{which}, is_outermost_((thread_word & in_driver_call) == 0), calls_around_(calls_in_progress) {
    thread_word |= in_driver_call;
    calls_in_progress = calls_around_ << call_bits | static_cast<unsigned>(which) << place_bits | place_of_target;
  }
  ~InterposedCall() {
    if (is_outermost_) thread_word &= ~in_driver_call;
    calls_in_progress = calls_around_;
  }
  InterposedCall(const InterposedCall&) = delete;
  InterposedCall& operator=(const InterposedCall&) = delete;
  bool is_inside_another() const { return calls_around_ != 0; }

 protected:
  bool is_outermost() const { return is_outermost_; }

 private:
  bool is_outermost_;
  std::uint64_t calls_around_;
};

// A call that needs the driver for more than looking up entry points.
class UsingCall : public InterposedCall {
 public:
  UsingCall(Entry which, unsigned place_of_target, bool is_prepared = true) : InterposedCall(which, place_of_target) {
    if (!is_outermost()) return;
    if (is_hip()) {
      reports_ = true;
      if (is_prepared) driver::prepare_for_rows(*this);
      return;
    }
    decide_back_end();
    reports_ = is_interposing();
    is_cuptis_ = back_end.load(std::memory_order_relaxed) == BackEnd::cupti;
    if (is_cuptis_) thread_word &= ~cupti_has_reported;
  }
  ~UsingCall() {
    if (is_cuptis_) driver::report_waiting_pools(*this);
  }
  // Called after the driver call. If somebody has ended CUPTI, records the call that CUPTI failed to report.
  bool is_reported() const { return is_ours() && is_observed(); }

 protected:
  bool reports() const { return reports_; }
  void report_also_under_cupti() { reports_ = reports_ || is_cuptis_; }
  bool is_ours() const {
    return reports_ || (is_cuptis_ && (thread_word & cupti_has_reported) == 0 && is_cupti_gone(entry));
  }

 private:
  bool reports_ = false;  // Set when the call begins: the same back end reports it, whatever happens in between.
  bool is_cuptis_ = false;
};

// A call that CUPTI is not asked to report (RUNS in driver_entries.inc).
class RunningCall : public UsingCall {
 public:
  RunningCall(Entry which, unsigned place_of_target) : UsingCall(which, place_of_target, false) {
    report_also_under_cupti();
  }
};

// A call that frees memory: its rows have the time before the call and are written when it has succeeded.
class FreeingCall : public UsingCall {
 public:
  FreeingCall(Entry which, unsigned place_of_target) : UsingCall(which, place_of_target) {
    if (reports() && rings.is_open()) since = rings.begin_freeing(take_stack());
  }
  ~FreeingCall() {
    if (since != 0) rings.end_freeing();
  }
  // If nothing was recorded yet, nothing can be freed.
  bool frees() {
    if (since == 0 && !reports() && is_ours() && rings.is_open()) since = rings.begin_freeing(take_stack());
    return since != 0;
  }
};

namespace driver {

constexpr std::size_t devices_max = 64;
// Each heap has a place: that of a device is its ordinal.
constexpr std::size_t managed_place = devices_max, host_place = devices_max + 1, heap_places = devices_max + 2;
std::size_t index_of_device(Device device);  // Below devices_max; higher devices count as the first.
std::size_t index_of_location(Location location);
// The stream's device if its creation was seen. Otherwise the thread's, which may have changed since then.
std::size_t index_of_stream(const DriverCall& call, Object stream);

// Heaps by their numbers in the rings, defined at first use.
std::uint32_t heap_at(std::size_t place);
std::uint32_t device_heap(Device device);
std::uint32_t device_heap(const DriverCall& call);  // The thread's device counts.
Device device_of_heap(std::uint32_t heap);          // devices_max: the heap is of no device.
std::uint32_t managed_heap();
std::uint32_t host_heap();
// The memory that a call requested: of the thread's device, or of the place that the call names.
inline RefusedRequest of_device(Size bytes) {
  return {bytes, RefusedRequest::of_the_thread, true};
}
inline RefusedRequest of_addresses(Size bytes) {  // Addresses without memory.
  return {bytes, RefusedRequest::of_the_thread};
}
inline RefusedRequest of_host(Size bytes) {
  return {bytes, host_heap()};
}
inline RefusedRequest of_managed(Size bytes) {
  return {bytes, managed_heap()};
}
inline RefusedRequest of_location(Size bytes, const AllocationProperties* properties) {
  return {bytes, properties == nullptr ? 0 : heap_at(index_of_location(properties->location)), true};
}

// Sets what is called when the driver has given the process memory, which may be for a framework's pool whose first
// block comes next.
void watch_new_memory(void (*tell)());

// Blocks of the thread's context, which end with it.
void report_block_in(std::uint32_t heap, const DriverCall& call, Address at, Size bytes, Size requested);
inline void report_block_in(std::uint32_t heap, const DriverCall& call, Address at, Size bytes) {
  report_block_in(heap, call, at, bytes, bytes);
}
inline void report_block(const DriverCall& call, Address at, Size bytes, Size requested) {
  report_block_in(device_heap(call), call, at, bytes, requested);
}
inline void report_block(const DriverCall& call, Address at, Size bytes) {
  report_block(call, at, bytes, bytes);
}
void report_host_block(const DriverCall& call, void* at, Size bytes);
void report_array(const DriverCall& call, Object array, Size bytes);  // 0: the memory is counted elsewhere.
// From a pool, which belongs to its device and to no context.
// False: it takes none, because the call became a node of a graph.
bool report_stream_block(std::uint32_t heap, const DriverCall& call, Address at, Size bytes, Object stream);
// A variable of a module or a library. A program may request it many times; it is recorded once.
void report_variable(std::uint32_t heap, const DriverCall& call, Object module, Address at, Size bytes,
                     const char* name);
template <class At, class Bytes>
void report_variable(std::uint32_t heap, const DriverCall& call, Object module, const At* at, const Bytes* bytes,
                     const char* name) {
  if (at != nullptr && bytes != nullptr) report_variable(heap, call, module, Address{*at}, Size{*bytes}, name);
}
void report_free(const DriverCall& call, Address at);
void report_host_free(const DriverCall& call, void* at);
void report_array_free(const DriverCall& call, Object array);

void note_stream(const DriverCall& call, Object stream);
void forget_stream(Object stream);

inline std::uint64_t number_of(Object object) {
  return reinterpret_cast<std::uint64_t>(object);
}
void create(MemHandle handle, Size bytes, Location location);
void create_view(MemHandle handle);  // A handle that maps foreign memory and owns none.
void import(const DriverCall& call, MemHandle handle, std::uint64_t bytes = 0);  // 0: unknown.
void note_export(MemHandle handle);
void release(const DriverCall& call, MemHandle handle);
void map(const DriverCall& call, Address at, Size bytes, Size offset, MemHandle handle);
void unmap(const DriverCall& call, Address at, Size bytes);
void reserve(const DriverCall& call, Address at, Size bytes);
void unreserve(const DriverCall& call, Address at, Size bytes);

// A destroyed context, module or library ends everything it owns (driver_owners.h). Releasing a primary context that is
// still used elsewhere does not destroy it; where the driver can't be queried (CUPTI), a release is not recorded.
void note_primary_context(Object context, Device device);
void note_attached_context(Object context);
void end_context(const DriverCall& call, Object context);
void end_context_unless_attached(const DriverCall& call, Object context);
void end_primary_context(const DriverCall& call, Device device);
void end_primary_context_unless_used(const DriverCall& call, Device device);
void end_module(const DriverCall& call, Object module);

// A block of another process became visible here, or is no longer visible.
void open_foreign(const DriverCall& call, std::uint32_t heap, Address at);
void close_foreign(const DriverCall& call, Address at);
void note_sharing(const DriverCall& call, Address at);  // One of our blocks was shared with another process.

// The size of an array's elements; the driver rounds up and does not report by how much.
struct ArrayElement {
  Size bytes;
  Size block = 1;  // 4: of a block of 4 x 4 elements.
};
Size array_bytes(ArrayElement of, unsigned flags, Size width, Size height, Size depth, unsigned levels);
Size array_bytes(unsigned format, unsigned channels, unsigned flags, Size width, Size height, Size depth,
                 unsigned levels);
template <class Extent>
Size array_bytes(const ArrayDescriptor<Extent>& array) {
  return array_bytes(array.format, array.channels, 0, array.width, array.height, 0, 1);
}
template <class Extent>
Size array_bytes(const Array3dDescriptor<Extent>& array, unsigned levels = 1) {
  return array_bytes(array.format, array.channels, array.flags, array.width, array.height, array.depth, levels);
}

}  // namespace driver
}  // namespace hbmscope::inject
