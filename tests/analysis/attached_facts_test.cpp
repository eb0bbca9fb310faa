// What a process held when it was attached to, and how much of that is identified.
#include "analysis/query/attached_facts.h"

#include <gtest/gtest.h>

#include <limits>

#include "collector/wire/reported_names.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

class Attached {
 public:
  Attached() {
    builder_.writer.add_job_fact(wire::attached_fact, "yes");
    wire::HeapRecord record;
    record.flags = wire::heap_flag::has_addresses;
    record.device = 0;
    heap_ = builder_.writer.define_heap(record, "GPU 0 memory", "device");
  }
  void attach(std::int64_t time_ns) {
    wire::MarkerRecord mark;
    mark.name = builder_.writer.define_string(wire::attached_mark);
    builder_.writer.add(mark, time_ns);
  }
  void take(std::uint64_t bytes, std::int64_t time_ns) {
    wire::AllocRecord block;
    block.heap = heap_;
    block.address = 1 << 20;
    block.size = bytes;
    builder_.writer.alloc(block, time_ns);
  }
  void report(std::int64_t bytes, std::int64_t time_ns) {
    wire::CounterRecord counter;
    counter.name = builder_.writer.define_string("GPU 0" + std::string(wire::held_by_process_ending));
    counter.value = bytes;
    builder_.writer.add(counter, time_ns);
  }
  void report_not_identified(std::int64_t bytes, std::int64_t time_ns) {
    wire::CounterRecord counter;
    counter.name = builder_.writer.define_string(wire::bytes_not_identified);
    counter.heap = heap_;
    counter.value = bytes;
    builder_.writer.add(counter, time_ns);
  }
  void report_back_end(std::string_view how) { builder_.writer.add_job_fact(wire::driver_calls_fact, how); }
  void report_back_end_later(std::string_view how, std::int64_t time_ns) {
    report_back_end(how);
    wire::MarkerRecord mark;
    mark.name = builder_.writer.define_string(std::string(wire::driver_calls_are) + std::string(how));
    builder_.writer.add(mark, time_ns);
  }
  AttachedFacts facts() {
    builder_.writer.flush();
    return find_attached(builder_.trace).at(0);
  }

 private:
  TraceBuilder builder_;
  std::uint32_t heap_ = 0;
};

TEST(AttachedFacts, TheFirstFiguresAfterItAreWhatItHeld) {
  Attached job;
  job.report(100, second_ns);  // From before the attach.
  job.attach(2 * second_ns);
  job.take(30, 3 * second_ns);
  job.report(70, 4 * second_ns);
  job.take(40, 5 * second_ns);
  job.report(110, 6 * second_ns);
  const AttachedFacts facts = job.facts();
  EXPECT_EQ(facts.since_start_ns, second_ns);
  EXPECT_EQ(facts.held_bytes, 70U);
  EXPECT_EQ(facts.reported_after_ns, 2 * second_ns);
  EXPECT_EQ(facts.identified_bytes, 30U);
  EXPECT_EQ(text_from_attached(facts),
            "Attached. 2.0 s later the process held 70 B on its devices; 30 B of it is identified, 40 B is not.");
}

TEST(AttachedFacts, AllThatPoolsHadIsNamedWithWhatIsStillNotIdentified) {
  Attached job;
  job.attach(second_ns);
  job.report_not_identified(1000, 2 * second_ns);
  job.report_not_identified(300, 3 * second_ns);
  EXPECT_EQ(text_from_attached(job.facts()),
            "Attached. Its frameworks' pools had 1000 B in use; 300 B of it is unknown.");
  job.report(5000, 4 * second_ns);
  job.report_not_identified(0, 5 * second_ns);
  EXPECT_EQ(job.facts().before_in_pools_bytes, 1000U);
  EXPECT_EQ(text_from_attached(job.facts()),
            "Attached. 3.0 s later the process held 4.88 KiB on its devices. Its frameworks' pools had 1000 B in use; "
            "every block has been identified or freed since.");
}

TEST(AttachedFacts, WhoTellsOfTheDriversCallsIsTheLastWordOfIt) {
  Attached silent;
  silent.attach(second_ns);
  EXPECT_EQ(text_from_driver_calls(silent.facts()), "") << "a recording from before it was told";
  Attached busy;
  busy.attach(second_ns);
  busy.report_back_end("not recorded: CUPTI is in use");
  EXPECT_EQ(text_from_driver_calls(busy.facts()), "CUDA driver calls are not recorded: CUPTI is in use.");
  EXPECT_FALSE(busy.facts().are_calls_recorded || busy.facts().may_be_recorded_later);
  Attached late;
  late.attach(second_ns);
  late.report_back_end("not recorded yet: no CUDA driver is loaded");
  EXPECT_TRUE(late.facts().may_be_recorded_later);
  late.report_back_end_later("recorded with CUPTI (libcupti.so)", 3 * second_ns);
  EXPECT_TRUE(late.facts().are_calls_recorded);
  EXPECT_EQ(
      text_from_driver_calls(late.facts()),
      "CUDA driver calls are recorded with CUPTI (libcupti.so), since 2.0 s after attaching; earlier allocations are "
      "unknown.");
  Attached lost;
  lost.attach(second_ns);
  lost.report_back_end("recorded with CUPTI (libcupti.so)");
  lost.report_back_end_later("not recorded: another tool has shut CUPTI down", 5 * second_ns);
  EXPECT_EQ(text_from_driver_calls(lost.facts()),
            "CUDA driver calls have not been recorded since 4.0 s after attaching: another tool has shut CUPTI down.");
  Attached earlier;
  earlier.attach(second_ns);
  earlier.report_back_end("told by CUPTI (libcupti.so)");
  EXPECT_TRUE(earlier.facts().are_calls_recorded);
  EXPECT_EQ(text_from_driver_calls(earlier.facts()), "CUDA driver calls are recorded with CUPTI (libcupti.so).");
}

// A file may say any time.
TEST(AttachedFacts, OfAnyTimesAreToldOrNot) {
  constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min(),
                         last = std::numeric_limits<std::int64_t>::max();
  Attached late;
  late.attach(first);
  late.report(70, last);
  EXPECT_EQ(late.facts().held_bytes, std::nullopt) << "too long after";
  Attached early;
  early.take(1, first);
  early.attach(last);
  early.report(70, first);
  const AttachedFacts facts = early.facts();
  EXPECT_EQ(facts.since_start_ns, last);
  EXPECT_EQ(facts.reported_after_ns, 0);
}

}  // namespace
}  // namespace hbmscope
