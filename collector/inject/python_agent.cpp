#include "collector/inject/python_agent.h"

#include <time.h>
#include <agent_sources.inc>  // Made from collector/agent.

#include <atomic>
#include <cstdint>
#include <cstring>

#include "collector/inject/collector.h"
#include "collector/inject/driver_rows.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/marked_places.h"
#include "collector/inject/pool_rows.h"
#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace {

// Functions of Python's C API, as in all versions since 3.9. All but the first belong to its stable part.
struct PyObject;
struct Python {
  PyObject* (*compile)(const char* source, const char* file, int kind) = nullptr;
  int (*add_pending_call)(int (*function)(void*), void* argument) = nullptr;
  int (*is_initialized)() = nullptr;
  PyObject* (*execute)(const char* module, PyObject* code) = nullptr;
  PyObject* (*call_method)(PyObject* object, const char* name, const char* format, ...) = nullptr;
  void (*release)(PyObject* object) = nullptr;
  double (*to_double)(PyObject* object) = nullptr;
  void (*clear_error)() = nullptr;
  int (*is_error)(PyObject* kind) = nullptr;
  PyObject** exception = nullptr;  // The kind of error that programs catch: not Ctrl-C.
};
Python python;
constexpr int whole_file = 257;  // Py_file_input

enum Stage : int { not_tried, ready, started, unusable };
std::atomic<int> stage{not_tried};
PyObject* agent = nullptr;  // Only with the GIL.
std::atomic<bool> is_asked{false}, is_failure{false}, is_leaving{false};
std::atomic<std::int64_t> next_look_ns{0};
SpinLock finding;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

template <class Function>
bool find(Function& function, const void* interpreter, const char* name) {
  function = reinterpret_cast<Function>(find_function_in_object_of(interpreter, name));
  return function != nullptr;
}

// In the interpreter that has the first one.
bool find_functions() {
  python.add_pending_call = reinterpret_cast<decltype(python.add_pending_call)>(find_function("Py_AddPendingCall"));
  const auto* in = reinterpret_cast<const void*>(python.add_pending_call);
  if (in == nullptr) return false;
  python.exception = static_cast<PyObject**>(find_data_in_object_of(in, "PyExc_Exception"));
  return python.exception != nullptr && find(python.is_initialized, in, "Py_IsInitialized") &&
         find(python.compile, in, "Py_CompileString") && find(python.execute, in, "PyImport_ExecCodeModule") &&
         find(python.call_method, in, "PyObject_CallMethod") && find(python.release, in, "Py_DecRef") &&
         find(python.to_double, in, "PyFloat_AsDouble") && find(python.clear_error, in, "PyErr_Clear") &&
         find(python.is_error, in, "PyErr_ExceptionMatches");
}

// Looks for the interpreter again only after a while, because the program may load it later.
bool find_python() {
  constexpr std::int64_t look_again_ns = 1'000'000'000;
  if (now_ns() < next_look_ns.load(std::memory_order_relaxed) || !finding.try_lock()) return false;
  if (stage.load(std::memory_order_relaxed) == not_tried) {
    if (find_functions())
      stage.store(ready, std::memory_order_release);
    else
      next_look_ns.store(now_ns() + look_again_ns, std::memory_order_relaxed);
  }
  finding.unlock();
  return stage.load(std::memory_order_acquire) != not_tried;
}

// What the agent calls (collector/agent/calls.py), with the GIL held.
int is_observed_now() {
  return is_observed() ? 1 : 0;
}
void report_attribute(std::uint64_t address, const char* key, const char* value) {
  if (is_observed()) pools::report_attribute(address, pools::text_of(key), pools::text_of(value));
}
void report_marker(const char* name, int phase) {
  if (!is_observed()) return;
  wire::MarkerRecord record;
  record.name = pools::text_of(name);
  if (record.name == 0) return;
  record.device = wire::no_device;
  record.phase = static_cast<std::uint8_t>(phase);
  rings.add_of_driver(record);
}
// After an attach, PyTorch's blocks are listed (pools::report_list). wants_list() is true until all were: a pool that
// has done nothing since the attach is not known yet, and is not waited for for ever. With the GIL.
constexpr unsigned lists_max = 20;
std::uint64_t listed_session = 0;
unsigned lists = 0;
bool is_list_complete = false;
int wants_list() {
  return is_observed() && came_late() && listed_session != rings.session() ? 1 : 0;
}
void report_list(int begins) {
  if (!is_observed()) return;
  pools::report_list(begins != 0);
  if (begins != 0) {
    is_list_complete = true;
  } else if (is_list_complete || ++lists == lists_max) {
    listed_session = rings.session();
    lists = 0;
  }
}
void report_torch_block(unsigned device, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested) {
  if (!is_observed()) return;
  if (const std::uint32_t heap = pools::heap_on(pools::Framework::torch, device))
    pools::report_block_from_before(heap, address, bytes, requested);
  else
    is_list_complete = false;
}
void ask_again();
void end_agent();
void report_fact(const char* key, const char* value) {
  if (is_observed()) rings.define_job_fact(key, value);
}

template <class Function>
unsigned long long address_of(Function* function) {
  return reinterpret_cast<std::uintptr_t>(function);
}

// The error is the job's, and Python raises it in the job's code, if it is Ctrl-C or the like. Ours is forgotten.
int end_of_failed_call() {
  if (python.is_error(*python.exception) == 0) return -1;
  python.clear_error();
  return 0;
}

bool start_agent() {
  PyObject* code = python.compile(reinterpret_cast<const char*>(loader_source), "<hbmscope loader>", whole_file);
  PyObject* loader = code != nullptr ? python.execute("_hbmscope_loader", code) : nullptr;
  if (code != nullptr) python.release(code);
  if (loader == nullptr) return false;
  agent = python.call_method(loader, "load", "s(KKKKKKKKK)", reinterpret_cast<const char*>(agent_sources),
                             address_of(is_observed_now), address_of(report_attribute), address_of(report_marker),
                             address_of(report_fact), address_of(ask_again), address_of(end_agent),
                             address_of(wants_list), address_of(report_list), address_of(report_torch_block));
  python.release(loader);
  return agent != nullptr;
}

bool is_inside = false;  // Under the GIL.

int look_once() {
  if (is_leaving.exchange(false)) {
    if (stage.load(std::memory_order_acquire) != started) return 0;
    PyObject* nothing = python.call_method(agent, "leave", nullptr);
    if (nothing == nullptr) return end_of_failed_call();
    python.release(nothing);
    return 0;
  }
  if (!is_observed()) return 0;
  if (stage.load(std::memory_order_acquire) == ready) {
    if (!start_agent()) {
      stage.store(unusable, std::memory_order_release);
      return end_of_failed_call();
    }
    stage.store(started, std::memory_order_release);
  }
  const int after_failure = is_failure.exchange(false) ? 1 : 0;
  PyObject* seconds = python.call_method(agent, "wake", "i", after_failure);
  if (seconds == nullptr) return -1;  // An error of the job: the agent has caught its own.
  constexpr double seconds_max = 3600;
  const double rest = python.to_double(seconds);
  const auto rest_ns = static_cast<std::int64_t>((rest >= 0 && rest <= seconds_max ? rest : seconds_max) * 1e9);
  next_look_ns.store(now_ns() + rest_ns, std::memory_order_relaxed);
  python.release(seconds);
  return 0;
}

// With the GIL: in the main thread, or in the one that asked for a snapshot. What it returns is Python's: -1 raises the
// current error.
int look(void*) {
  is_asked.store(false, std::memory_order_release);
  // Between two of the agent's instructions another thread may come here, or a pending call.
  if (is_inside || stage.load(std::memory_order_acquire) == unusable) return 0;
  is_inside = true;
  const int result = look_once();
  is_inside = false;
  return result;
}

// Memory is freed after the interpreter's end, too, when a pending call would find no interpreter to be added to.
void ask() {
  if (python.is_initialized() == 0) return;
  if (!is_asked.exchange(true, std::memory_order_acq_rel) && python.add_pending_call(look, nullptr) != 0)
    is_asked.store(false, std::memory_order_release);  // Python's list is full for the moment.
}

void ask_again() {
  ask();
}

void end_agent() {
  stage.store(unusable, std::memory_order_release);
  python.release(agent);
  agent = nullptr;
}

// By the program itself: in its thread, with the GIL. 1: done.
int snapshot_now();

bool is_usable() {
  const int now = stage.load(std::memory_order_acquire);
  return now == ready || now == started || (now == not_tried && find_python());
}

}  // namespace

void wake_agent(Occasion occasion) {
  constexpr std::int64_t between_uses_ns = 250'000'000;
  if (!is_usable()) return;
  if (occasion == Occasion::failure)
    is_failure.store(true, std::memory_order_release);
  else if (now_ns() < next_look_ns.load(std::memory_order_relaxed) + (occasion == Occasion::use ? between_uses_ns : 0))
    return;
  ask();
}

namespace {

int snapshot_now() {
  if (!is_observed() || !is_usable()) return 0;
  is_failure.store(true, std::memory_order_release);
  // An error of the job's own, such as Ctrl-C, is raised when the call returns.
  look(nullptr);
  return stage.load(std::memory_order_acquire) == started ? 1 : 0;
}

}  // namespace

void leave_agent() {
  next_look_ns.store(0, std::memory_order_relaxed);
  if (stage.load(std::memory_order_acquire) != started) return;
  is_leaving.store(true, std::memory_order_release);
  ask();
}

void forget_agent() {
  finding.unlock();
  is_inside = false;
  is_asked.store(false, std::memory_order_relaxed);
  next_look_ns.store(0, std::memory_order_relaxed);
}

}  // namespace hbmscope::inject

namespace {

using namespace hbmscope::inject;

std::uint32_t set_tag(const char* name) {
  return is_observed() ? rings.set_tag(pools::text_of(name)) : 0;
}
void restore_tag(std::uint32_t tag) {
  if (is_observed()) rings.set_tag(tag);
}

// For the program's own `import hbmscope` (collector/agent/hbmscope), which has the same list, and for the emulated
// devices (allocator/emulated/accounts/value_reads.h), which use the last one.
struct Functions {
  std::uint64_t count;
  int (*is_observed)();  // And an attach is complete.
  void (*marker)(const char* name, int phase);
  std::uint32_t (*set_tag)(const char* name);
  void (*restore_tag)(std::uint32_t tag);
  int (*snapshot)();
  std::uint32_t (*mark_place)();
};
int is_observed_completely() {
  return is_observed() && is_attach_complete() ? 1 : 0;
}
const Functions functions{6, is_observed_completely, report_marker, set_tag, restore_tag, snapshot_now, mark_place};

}  // namespace

extern "C" __attribute__((visibility("default"))) const void* hbmscope_functions_1() {
  return &functions;
}
