// Records an emulation's events, its clock and the peak of each memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "allocator/emulated/tpu/emulation/emulation.h"

namespace hbmscope::allocator::tpu {

class EventLog {
 public:
  EventLog(Emulation& out, bool is_timed, Work* work) : out_(out), is_timed_(is_timed), work_(work) {}

  // The emulation must stop: it used up its steps, or was cancelled.
  bool is_over() const { return work_ != nullptr && work_->is_over(); }
  bool spend(std::uint64_t steps) { return work_ == nullptr || work_->spend(steps); }

  std::uint64_t now_ns() const { return now_ns_; }
  void pass(std::uint64_t ns) { now_ns_ += ns; }
  // Kernels set their own times.
  void set_now(std::uint64_t ns) { now_ns_ = ns; }

  void alloc(Tier tier, std::uint64_t address, std::uint64_t bytes, std::optional<std::uint64_t> requested,
             const std::string& name, const Array* array);
  void free(Tier tier, std::uint64_t address, std::uint64_t bytes);
  void move(Tier tier, std::uint64_t from, std::uint64_t to, std::uint64_t bytes);
  void reused(Tier tier, std::uint64_t address, const std::string& name);
  void mark(const std::string& name) { add(EventKind::mark).name = name; }
  void begins(const std::string& name) { add(EventKind::begins).name = name; }
  void ends(const std::string& name) { add(EventKind::ends).name = name; }
  void copy_begins(const std::string& name) { add(EventKind::copy_begins).name = name; }
  void copy_ends(const std::string& name) { add(EventKind::copy_ends).name = name; }
  void fail(EmulatedFailure failure);
  // For the GPU's pool.
  void fail_gpu(EmulatedFailure failure);

 private:
  Event& add(EventKind kind) {
    if (work_ != nullptr) work_->spend(steps_of_event);
    Event& event = out_.events.emplace_back();
    event.kind = kind;
    event.time_ns = is_timed_ ? static_cast<std::int64_t>(now_ns_) : 0;
    return event;
  }
  void add_failure(std::vector<EmulatedFailure>& list, EmulatedFailure failure);

  Emulation& out_;
  const bool is_timed_;
  Work* const work_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace hbmscope::allocator::tpu
