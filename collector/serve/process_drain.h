// One job's process: its rings, merged by time, as one stream.
//
// A thread notes the time and then publishes the event; in between it may be put aside. So with several threads, events
// younger than `merge_window_ns` wait for the next round, and what comes later than that is written late, never sorted
// anew. Threads of their own order (an alloc after the free that made room for it) are ordered by their allocator's
// lock, which takes longer than reading the clock. A thread that is inside a call that gives memory back to the driver
// holds back what is younger than the call, `hold_max_ns` long: the driver may give the same addresses to another
// thread before the call has returned and is told. What is handed out anew after that is taken for given back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collector/serve/device_totals.h"
#include "collector/serve/driver_memory.h"
#include "collector/serve/failure_watch.h"
#include "collector/serve/frame_namer.h"
#include "collector/serve/ring_memory.h"
#include "collector/serve/tick_clock.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::serve {

constexpr std::int64_t merge_window_ns = 1'000'000;
constexpr std::int64_t hold_max_ns = 200'000'000;
constexpr std::int64_t clock_record_ns = 10'000'000'000;

class ProcessDrain {
 public:
  ProcessDrain(std::unique_ptr<RingMemory> memory, std::uint32_t stream, wire::StreamWriter::Sink sink);
  // Functions get their names from there; `process` is whose files they are in. Without it they keep their addresses.
  void name_frames_by(FrameNamer& namer, std::int64_t process);

  void add_job_fact(std::string_view key, std::string_view value);
  // Counters of the devices on which the driver says that the process holds memory, where they have changed, and every
  // ten seconds; of the only device also where the driver names no process (it numbers them otherwise in a container).
  // By ordinals of this machine, not those that the job may see: of no heap.
  void tell_devices(std::span<const DeviceTotals> devices);
  // All that can be had now; with `is_last` also the youngest, and the block at hand is closed.
  void drain(bool is_last);
  // All that a viewer needs that goes on with the next block; the block at hand is closed.
  std::vector<wire::SharedBlock> make_keyframe() { return writer_.make_keyframe(); }
  // After the last drain(): writes the names that came since. True: there will be none any more.
  bool finish_names();

  std::uint64_t events() const { return events_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t stacks_lost() const { return memory_->stacks_lost(); }  // Events without one, for want of room.
  // Found since the last call; without the number of the process.
  const FailureWatch& failure_watch() const { return watch_; }
  std::vector<Failure> take_failures() { return std::exchange(failures_, {}); }
  // It may hold memory of devices: it has called the driver, or did before it was attached to.
  bool may_hold_memory() const { return may_hold_memory_; }
  void note_attached(bool has_driver);  // The CUDA driver is loaded in it.
  // Nothing is loaded into it, and nothing but tell_devices() tells of it.
  void note_left_alone();
  // Who tells of its calls of the driver (wire::driver_calls_fact), where that is other than at the last call.
  std::optional<std::string> take_driver_calls() { return std::exchange(driver_calls_, std::nullopt); }
  // Shared memory that made no sense at some place; what was behind it is lost.
  bool is_broken() const { return is_broken_; }

 private:
  void mark(std::string_view name);  // A marker, now.
  struct Ring {
    std::uint64_t tail = 0, head = 0, told_tail = 0;
    std::uint64_t told_lost = 0;
    std::optional<Row> row;  // The next one, read already.
  };

  void take_definitions();
  void define_module(const Row& row);
  void note_fact(const Row& row);
  void define_code_frame(const Row& row);
  void write_names();
  void take_rows(std::uint64_t until_ticks);
  void write(const Row& row);
  void watch(const Row& row, std::int64_t time_ns);
  static bool is_of_driver(const Row& row);
  void give_of_driver(const Row& row, std::int64_t time_ns);
  void write_of_driver(const Row& row, std::int64_t time_ns);
  void write_listing(const wire::ListingRecord& listing, std::int64_t time_ns);
  void note_losses(std::int64_t now_ns);
  void tell_clock(const TickClock::Reading& now);

  // The record of a row, with the stream's ids in the place of the job's.
  template <class Record>
  Record translated(const Row& row) const;
  std::uint32_t string(std::uint32_t of_job) const { return id_of(strings_, of_job); }
  std::uint32_t stack(std::uint32_t of_job) const { return id_of(stacks_, of_job); }
  std::uint32_t heap(std::uint32_t of_job) const { return id_of(heaps_, of_job); }
  static std::uint32_t id_of(const std::vector<std::uint32_t>& ids, std::uint32_t of_job) {
    return of_job < ids.size() ? ids[of_job] : 0;
  }

  std::unique_ptr<RingMemory> memory_;
  wire::StreamWriter writer_;
  DriverMemory driver_{writer_};
  TickClock clock_;
  std::vector<Ring> rings_;
  std::vector<std::uint32_t> used_rings_;                                     // Of this round.
  std::vector<std::uint32_t> strings_{0}, frames_{0}, stacks_{0}, heaps_{0};  // The stream's ids, by the job's.
  std::vector<std::string> texts_{""};                                        // By the job's ids, as are the next.
  std::vector<std::string> heap_names_{""};
  std::vector<std::shared_ptr<const CodeModule>> modules_{nullptr};
  FrameNamer* namer_ = nullptr;
  std::uint32_t stream_;
  std::int64_t process_ = 0;
  FailureWatch watch_;
  std::vector<Failure> failures_;
  std::uint64_t giving_since_ = 0;  // The oldest call of this round that does not hold back what is younger.
  std::uint64_t events_ = 0, lost_ = 0, told_without_ring_ = 0;
  std::int64_t last_drain_ns_ = 0, last_clock_ns_ = 0;
  struct ToldFigure {
    std::uint64_t bytes = 0;
    std::int64_t time_ns = 0;
  };
  void tell_figure(const std::string& name, std::uint64_t bytes);
  std::map<std::string, ToldFigure> told_figures_;
  std::optional<std::string> driver_calls_;
  bool is_broken_ = false, has_clock_ = false, may_hold_memory_ = false, is_left_alone_ = false;
};

}  // namespace hbmscope::serve
