#include "collector/inject/cupti_callbacks.h"

#include <errno.h>

#include "collector/inject/back_end.h"
#include "collector/inject/collector.h"
#include "collector/inject/cupti_library.h"
#include "collector/inject/cupti_nvtx.h"
#include "collector/inject/cupti_rows.h"
#include "collector/inject/device_uuids.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::inject {
namespace cupti {
namespace {

// All of these are changed only while `changing` is held.
SpinLock changing;
Library library;
bool is_loaded = false;
Subscriber subscriber = nullptr;
// The number of this start. A thread's word contains it while the thread is in a call: a call that was in progress when
// we stopped does not count when we start again. 0: stopped.
std::atomic<std::uintptr_t> session{0};
std::uintptr_t last_session = 0;
bool is_enabled[entry_count];
static_assert(alignof(ThreadSlot) > thread_flags);

// Devices by context number, which is never reused: the device plus one, or 0 before it is queried.
constexpr std::uint32_t contexts_max = 1024;
std::atomic<std::uint8_t> devices[contexts_max];

int device_of(const CallbackData& data) {
  if (data.context == nullptr) return 0;
  const bool is_kept = data.context_uid < contexts_max;
  if (is_kept)
    if (const std::uint8_t known = devices[data.context_uid].load(std::memory_order_relaxed)) return known - 1;
  std::uint32_t device = 0;  // Allowed in a callback, unlike calls to the driver.
  if (library.get_device_id(data.context, &device) != success) return 0;
  if (is_kept && device < 255) devices[data.context_uid].store(static_cast<std::uint8_t>(device + 1));
  return static_cast<int>(device);
}

constexpr std::uint64_t is_inside_another = 0, without_time = 1;  // Stored with a call instead of its start time.

void begin_call(Entry entry, const CallbackData& data, std::uintptr_t mine) {
  if ((thread_word & cupti_call) == mine) {  // A call inside a call is made by the driver itself.
    *data.correlation = is_inside_another;
    return;
  }
  thread_word = (thread_word & ~cupti_call) | mine;
  *data.correlation = frees_memory(entry) && rings.is_open() ? rings.begin_freeing(take_stack()) : without_time;
}

void end_call(Entry entry, const CallbackData& data, std::uintptr_t mine) {
  if ((thread_word & cupti_call) != mine || *data.correlation == is_inside_another) return;
  thread_word = (thread_word & ~cupti_call) | cupti_has_reported;
  const bool has_time = *data.correlation != without_time;
  const auto result = *static_cast<const cuda::Result*>(data.result);
  const bool is_news = result == cuda::success ? has_time || !frees_memory(entry) : result == cuda::error_out_of_memory;
  if (is_news && is_observed()) {
    const DriverCall call{entry, has_time ? *data.correlation : 0, device_of(data), data.context};
    if (result == cuda::success)
      report(call, data.parameters);
    else
      call.refuse(requested_by_call(entry, data.parameters));
  }
  if (has_time) rings.end_freeing();
}

void go_on_without(Line& why) {
  session.store(0, std::memory_order_release);
  back_end.store(BackEnd::interposition, std::memory_order_release);
  // In a job that was attached to late, callers hold the driver's entry points, so interposition would see nothing.
  if (came_late()) report_back_end(Line().add(wire::not_recorded.data()).add(why.text).text, true);
  say(why.add(", so CUDA driver calls are recorded by interposition from now on"));
}

void on_callback(void*, Domain domain, CallbackId id, const void* data) {
  const std::uintptr_t mine = session.load(std::memory_order_acquire);
  if (mine == 0) return;
  const int errno_of_job = errno;
  if (domain == Domain::driver_api) {
    const auto& call = *static_cast<const CallbackData*>(data);
    const Entry entry = entry_from_id(id);
    if (entry != Entry::count && call.correlation != nullptr)
      (call.site == Site::enter ? begin_call : end_call)(entry, call, mine);
  } else if (domain == Domain::nvtx) {
    report_nvtx(id, *static_cast<const NvtxData*>(data));
  } else if (domain == Domain::state && id == fatal_error) {
    const char* message = static_cast<const StateData*>(data)->message;
    Line why;
    why.add("CUPTI has shut down (").add(message != nullptr ? message : "no reason given").add(")");
    go_on_without(why);
  }
  errno = errno_of_job;
}

Result subscribe(char* old_name) {
  if (library.subscribe_v2 == nullptr) return library.subscribe(&subscriber, on_callback, nullptr);
  SubscriberParameters parameters{};
  parameters.struct_bytes =
      library.version >= version_13_3 ? sizeof(SubscriberParameters) : subscriber_bytes_before_13_3;
  parameters.name = "hbmscope";
  parameters.old_name = old_name;
  parameters.old_name_bytes = old_name_bytes_min;
  parameters.may_have_others = 1;
  const Result result = library.subscribe_v2(&subscriber, on_callback, nullptr, &parameters);
  if (result == success || library.version < version_13_3) return result;
  parameters.may_have_others = 0;  // The driver is older, or the first listener does not share.
  return library.subscribe_v2(&subscriber, on_callback, nullptr, &parameters);
}

void add_reason(Line& words, Result result, const char* old_name) {
  if (result == has_a_subscriber) {
    words.add("CUPTI is in use");
    if (*old_name != 0)
      words.add(" by ").add(old_name);
    else
      add_likely_holder(words);
    return;
  }
  words.add("CUPTI (").add(library.path).add(") failed with error ").add_number(static_cast<unsigned>(result));
  if (result == not_initialized || result == not_compatible)
    words.add(": it is newer than the driver, or a folder with a stub of the driver is on LD_LIBRARY_PATH");
  if (result == no_privileges) words.add(": this user has no permission to use it");
}

// Calls that free are enabled first, because a block whose free is missed would stay forever. Returns the number of
// enabled calls.
unsigned enable() {
  unsigned enabled = 0;
  for (const bool gives : {true, false})
    for (std::size_t i = 0; i < cuda_entry_count; ++i) {
      const auto entry = static_cast<Entry>(i);
      if (frees_memory(entry) != gives || id_of(entry) == 0 || is_left_to_us(entry)) continue;
      is_enabled[i] = library.enable_callback(1, subscriber, Domain::driver_api, id_of(entry)) == success;
      enabled += is_enabled[i] ? 1 : 0;
    }
  for (CallbackId id = 1; id <= nvtx_ids_last; ++id)
    if (is_nvtx_reported(id)) library.enable_callback(1, subscriber, Domain::nvtx, id);
  library.enable_callback(1, subscriber, Domain::state, fatal_error);
  return enabled;
}

bool start(Line& words) {
  words.add("CUPTI");
  if (session.load(std::memory_order_relaxed) != 0) return true;
  words = Line();
  is_loaded = is_loaded || load(library, words);
  if (!is_loaded) return false;
  char old_name[old_name_bytes_min + 1] = "";
  const Result result = subscribe(old_name);
  if (result != success) {
    add_reason(words, result, old_name);
    return false;
  }
  driver::find_all_uuids();
  last_session = last_session == cupti_call ? cupti_call_step : last_session + cupti_call_step;
  const BackEnd before = back_end.exchange(BackEnd::cupti, std::memory_order_acq_rel);
  session.store(last_session, std::memory_order_release);
  if (enable() == 0) {
    session.store(0, std::memory_order_release);
    back_end.store(before, std::memory_order_release);
    library.unsubscribe(subscriber);
    words.add(library.path).add(" does not support the driver's calls");
    return false;
  }
  words.add("CUPTI (").add(library.path).add(")");
  return true;
}

}  // namespace
}  // namespace cupti

bool start_cupti(Line& words) {
  cupti::changing.lock();
  const bool is_started = cupti::start(words);
  cupti::changing.unlock();
  return is_started;
}

void stop_cupti() {
  cupti::changing.lock();
  if (cupti::session.exchange(0, std::memory_order_acq_rel) != 0) {
    back_end.store(BackEnd::none, std::memory_order_release);
    cupti::library.unsubscribe(cupti::subscriber);
  }
  cupti::changing.unlock();
}

bool is_cupti_gone(Entry entry) {
  bool& is_enabled = cupti::is_enabled[static_cast<std::size_t>(entry)];
  if (!is_enabled) return false;
  cupti::changing.lock();
  std::uint32_t state = 0;
  const bool was_there = back_end.load(std::memory_order_relaxed) == BackEnd::cupti;
  const bool is_there = was_there &&
                        cupti::library.get_callback_state(&state, cupti::subscriber, cupti::Domain::driver_api,
                                                          cupti::id_of(entry)) == cupti::success &&
                        state != 0;
  if (is_there) is_enabled = false;  // CUPTI does not report this one; it is not tried again.
  if (was_there && !is_there) {
    Line why;
    cupti::go_on_without(why.add("another tool has shut CUPTI down"));
  }
  cupti::changing.unlock();
  return is_interposing();
}

void forget_cupti_lock() {
  cupti::changing.unlock();
}

}  // namespace hbmscope::inject
