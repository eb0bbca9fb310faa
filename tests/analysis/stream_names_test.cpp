// The names of streams and heaps if there are several.
#include "analysis/trace/stream_names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

// A stream for each process, with a heap "GPU 0" and what its facts say.
Trace trace_of(const std::vector<Facts>& processes) {
  Trace trace{{"made-up.trace"}, "test", "Test", {}, 0, 0, {}, {}, {}};
  for (const Facts& facts : processes) {
    TraceBuilder built;
    for (const auto& [key, value] : facts) built.writer.add_job_fact(key, value);
    built.alloc(built.heap("GPU 0", 0), 0x1000, 100);
    built.states_at();
    trace.streams.push_back(std::move(built.trace.streams.front()));
  }
  return trace;
}

std::vector<std::string> heaps_in(const Trace& trace) {
  std::vector<std::string> names;
  for (const NamedHeap& heap : heaps_of(trace)) names.push_back(heap.name);
  return names;
}

TEST(StreamNames, ranks_are_called_by_their_number_and_stand_in_its_order) {
  const Trace trace = trace_of({{{"process", "70"}, {"rank", "10"}}, {{"process", "71"}, {"rank", "2"}}});
  EXPECT_EQ((std::vector<std::string>{"rank 10", "rank 2"}), find_stream_names(trace));
  EXPECT_EQ((std::vector<std::string>{"GPU 0 (rank 2)", "GPU 0 (rank 10)"}), heaps_in(trace));
  EXPECT_EQ(1U, find_heap(trace, "GPU 0 (rank 2)")->stream);
}

TEST(StreamNames, processes_by_theirs_and_no_two_alike) {
  const Trace trace = trace_of({{{"process", "70"}, {"rank", "0"}},
                                {{"process", "71"}, {"rank", "0"}},
                                {{"process", "72"}},
                                {{"process", "72"}, {"rank", "x"}},
                                {}});
  EXPECT_EQ((std::vector<std::string>{"rank 0, process 70", "rank 0, process 71", "process 72", "process 72, stream 4",
                                      "stream 5"}),
            find_stream_names(trace));
  EXPECT_FALSE(rank_of_stream(trace, 3));
}

TEST(StreamNames, one_that_is_alone_has_none) {
  const Trace trace = trace_of({{{"process", "70"}, {"rank", "3"}}});
  EXPECT_EQ((std::vector<std::string>{""}), find_stream_names(trace));
  EXPECT_EQ((std::vector<std::string>{"GPU 0"}), heaps_in(trace));
}

// A table of devices would be as long as the list of processes, of a build with a thousand.
TEST(StreamNames, devices_are_distinguished_by_rank_and_not_by_process) {
  const auto count = [](const Trace& trace) {
    return std::pair(find_heap_labels(trace, HeapLabels::parts)[1][1],
                     find_heap_labels(trace, HeapLabels::streams)[1][1]);
  };
  EXPECT_EQ(std::pair(std::string("GPU 0 (rank 1)"), std::string("GPU 0 (rank 1)")),
            count(trace_of({{{"rank", "0"}}, {{"rank", "1"}}})));
  EXPECT_EQ(std::pair(std::string("GPU 0"), std::string("GPU 0 (process 71)")),
            count(trace_of({{{"process", "70"}}, {{"process", "71"}}})));
}

}  // namespace
}  // namespace hbmscope
