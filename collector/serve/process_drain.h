// One process of a job: its rings, merged by time, as one stream.
//
// A thread reads the time and then publishes the event; in between it may be descheduled. So with several threads,
// events younger than `merge_window_ns` wait for the next round. What arrives later is written late and never sorted.
// Threads that depend on each other (an alloc after the free that made room for it) are ordered by their allocator's
// lock, which takes longer than reading the clock. A thread inside a call that frees memory to the driver holds back
// everything younger than the call, for at most `hold_max_ns`: the driver may give the same addresses to another thread
// before the call has returned and is recorded. An address that is handed out again after that counts as freed.
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
#include "collector/serve/framework_memory.h"
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
  // The source of function names; `process` is the one whose files contain them, and was run by `user`. Without it,
  // frames keep their addresses.
  void name_frames_by(FrameNamer& namer, std::int64_t process, std::uint32_t user);

  void add_job_fact(std::string_view key, std::string_view value);
  // Writes counters for the devices on which the driver reports that the process holds memory, when they changed and
  // every ten seconds. If there is only one device, also if the driver does not list the process (in a container it has
  // another number there). Heaps and the driver's figures are joined by UUID, so devices have the numbers that
  // the process itself uses; one on which it has no heap has its number on this machine, "machine's GPU 2".
  void report_devices(std::span<const DeviceTotals> devices);
  // Drains what is available, but at once no more than takes some tenths of a second. With `is_last` it drains
  // everything, also the youngest events, and closes the current block.
  void drain(bool is_last);
  // When the next round is due: before any ring can be a quarter full, if the job goes on as in the last ones.
  std::int64_t next_round_ns() const { return next_round_ns_; }
  // Everything that a viewer needs to start with the next block; closes the current block.
  std::vector<wire::SharedBlock> make_keyframe() { return writer_.make_keyframe(); }
  // After the last drain(): writes the names found since. True: no more will come.
  bool finish_names();

  // As a reader of the recording counts them.
  std::uint64_t events() const { return writer_.counted_events() + figures_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t stacks_lost() const { return memory_->stacks_lost(); }  // Events without a stack, for lack of room.
  bool has_sandbox() const { return memory_->has_sandbox(); }
  // take_failures() returns the failures since the last call, without the number of the process.
  const FailureWatch& failure_watch() const { return watch_; }
  std::vector<Failure> take_failures() { return std::exchange(failures_, {}); }
  // Whether it may hold device memory: it has called the driver, or had done so before it was attached to.
  bool may_hold_memory() const { return may_hold_memory_; }
  void note_attached(bool has_driver);  // `has_driver`: it has loaded the CUDA driver.
  // Nothing is loaded into it; only report_devices() reports on it.
  void note_left_alone();
  // The back end that reports its driver calls (wire::driver_calls_fact), if it changed since the last call.
  std::optional<std::string> take_driver_calls() { return std::exchange(driver_calls_, std::nullopt); }
  // The shared memory was invalid somewhere; what came after that is lost.
  bool is_broken() const { return is_broken_; }

 private:
  void plan_next_round(std::uint64_t most_bytes, std::int64_t round_ns);
  void mark(std::string_view name);  // A marker at the present time.
  struct Ring {
    std::uint64_t tail = 0, head = 0, reported_tail = 0;
    std::uint64_t reported_lost = 0;
    std::optional<Row> row;  // The next row, already read.
  };

  void note_device(std::uint32_t ordinal, const std::string& uuid);
  std::string name_of(const DeviceTotals& device, std::size_t position) const;
  std::string name_of_machine(const DeviceTotals& device, std::size_t position) const;
  void take_definitions();
  void define_module(const Row& row);
  void note_fact(const Row& row);
  void define_code_frame(const Row& row);
  void write_names();
  void take_rows(std::uint64_t until_ticks, bool is_last);
  void write(const Row& row);
  void watch(const Row& row, std::int64_t time_ns);
  static bool is_of_driver(const Row& row);
  void free_of_driver(const Row& row, std::int64_t time_ns);
  void write_of_driver(const Row& row, std::int64_t time_ns);
  void write_listing(const wire::ListingRecord& listing, std::int64_t time_ns);
  std::uint64_t plausible_loss(std::uint64_t count);
  void note_losses(std::int64_t now_ns);
  void report_clock(const TickClock::Reading& now);

  // The record of a row, with ids of the stream instead of those of the job.
  template <class Record>
  Record translated(const Row& row) const;
  std::string_view text(std::uint32_t of_job) const {
    return of_job < texts_.size() ? std::string_view(texts_[of_job]) : std::string_view();
  }
  std::string_view heap_name(std::uint32_t of_job) const {
    return of_job < heap_names_.size() ? std::string_view(heap_names_[of_job]) : std::string_view();
  }
  std::uint32_t string(std::uint32_t of_job) const { return id_of(strings_, of_job); }
  std::uint32_t stack(std::uint32_t of_job) const { return id_of(stacks_, of_job); }
  std::uint32_t heap(std::uint32_t of_job) const { return id_of(heaps_, of_job); }
  static std::uint32_t id_of(const std::vector<std::uint32_t>& ids, std::uint32_t of_job) {
    return of_job < ids.size() ? ids[of_job] : 0;
  }

  std::unique_ptr<RingMemory> memory_;
  wire::StreamWriter writer_;
  PoolRegions regions_{writer_};
  DriverMemory driver_{writer_, regions_};
  FrameworkMemory frameworks_{writer_, regions_};
  TickClock clock_;
  std::vector<Ring> rings_;
  std::vector<std::uint32_t> used_rings_;                                     // In this round.
  std::vector<std::uint32_t> strings_{0}, frames_{0}, stacks_{0}, heaps_{0};  // The stream's ids, by those of the job.
  std::vector<std::string> texts_{""};                                        // By the job's ids, like the next ones.
  std::vector<std::string> heap_names_{""};
  std::vector<std::shared_ptr<const CodeModule>> modules_{nullptr};
  FrameNamer* namer_ = nullptr;
  std::shared_ptr<PerfMap> perf_map_;  // Names of what is compiled at run time.
  std::uint32_t stream_;
  std::int64_t process_ = 0;
  FailureWatch watch_;
  std::vector<Failure> failures_;
  std::uint64_t freeing_since_ = 0;  // The oldest freeing call of this round that does not hold back younger events.
  std::uint64_t lost_ = 0, lost_without_ring_ = 0;
  std::uint64_t figures_ = 0;  // The events of a process into which nothing is loaded.
  std::int64_t begun_ns_ = 0, last_drain_ns_ = 0, last_clock_ns_ = 0;
  std::int64_t next_round_ns_ = 0;  // After the last one.
  struct ReportedFigure {
    std::uint64_t bytes = 0;
    std::int64_t time_ns = 0;
  };
  void report_figure(const std::string& name, std::uint64_t bytes);
  void note_pool_figure(const wire::CounterRecord& figure, std::string_view name);
  void repeat_pool_figures(std::int64_t now_ns);
  std::map<std::string, ReportedFigure> reported_figures_;
  // What the driver's memory pools reported, by heap and name.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> pool_figures_;
  std::map<std::string, std::uint32_t, std::less<>> devices_;  // The ordinals of this process, by UUID.
  std::optional<std::string> driver_calls_;
  bool is_broken_ = false, has_noted_breach_ = false, has_clock_ = false, may_hold_memory_ = false,
       is_left_alone_ = false;
};

}  // namespace hbmscope::serve
