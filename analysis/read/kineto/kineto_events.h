// The memory events in a Chrome trace of torch.profiler, in file order, and the spans around them: one pass over the
// bytes into plain rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/read_control.h"

namespace hbmscope::kineto {

struct Device {
  std::int32_t type = 0, id = 0;  // c10::DeviceType; id -1: not numbered, as for CPU.

  friend bool operator==(const Device&, const Device&) = default;
};

struct MemoryEvent {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;  // Negative: freed.
  std::uint64_t address = 0;
  std::int64_t total_allocated = -1, total_reserved = -1;  // The device's totals after the event, or -1.
  std::uint32_t thread = 0;
  std::uint16_t device = 0;  // Index in Events::devices.
  bool is_out_of_memory = false;
};

// An operator or a Python function while it ran.
struct Span {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t thread = 0, name = 0;
};

// How often a problem occurred, and the first event with it: its number in the file, from 1.
struct Finding {
  std::uint64_t count = 0, first = 0;
  void note(std::uint64_t event) {
    if (count++ == 0) first = event;
  }
};

struct Events {
  std::vector<MemoryEvent> memory;
  std::vector<Span> spans;
  std::vector<Device> devices;
  std::vector<std::string> names;  // Names of spans.
  std::uint32_t threads = 0;
  std::uint64_t events = 0;                  // Events of all kinds.
  std::optional<std::int64_t> base_time_ns;  // Since 1970: the origin of all times.
  Finding without_address, bad_times, bad_fields;
};

// Errors: not JSON (with the byte); not a Chrome trace; cancelled.
Result<Events> read_events(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control);

}  // namespace hbmscope::kineto
