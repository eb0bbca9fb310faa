// Spans of markers against a replay of every event.
#include "analysis/query/marked_spans.h"

#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "analysis/trace/pass.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

namespace flag = wire::heap_flag;

// Allocations and frees of a heap on device 0 between markers that begin and end, nested and overlapping.
struct MarkedJob : TraceBuilder {
  explicit MarkedJob(unsigned seed, int events) {
    std::mt19937 random(seed);
    const std::uint32_t heap = pool("GPU 0", flag::has_addresses);
    std::vector<std::uint64_t> live;
    std::vector<std::string> open;
    for (int i = 0; i < events; ++i) {
      const unsigned what = random() % 8;
      if (what == 0) {
        open.push_back(std::string("step ") + std::to_string(random() % 4));
        mark(open.back(), mark_phase::begins);
      } else if (what == 1 && !open.empty()) {
        const std::size_t at = random() % open.size();
        mark(open[at], mark_phase::ends);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (what < 4 && !live.empty()) {
        const std::size_t at = random() % live.size();
        EXPECT_TRUE(free(heap, live[at]));
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        live.push_back(std::uint64_t{0x1000} * static_cast<std::uint64_t>(i + 1));
        alloc(heap, live.back(), 1 + random() % 4000);
      }
    }
    writer.flush();
  }
};

TEST(MarkedSpans, each_has_what_a_replay_finds) {
  std::size_t spans = 0, open = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    MarkedJob job(seed, 400);
    const Stream& stream = job.trace.streams.front();
    std::vector<std::uint64_t> in_use(stream.end_position() + 1);  // By position.
    pass_over_states(stream, stream.end_position(), nullptr,
                     [&](const StreamState& state, std::uint64_t position, std::int64_t, std::uint32_t heap) {
                       in_use[position] = state.in_use_bytes(heap);
                     });
    // Markers change nothing: what they didn't report is as before.
    std::vector<bool> is_known(in_use.size());
    pass_over_states(
        stream, stream.end_position(), nullptr,
        [&](const StreamState&, std::uint64_t position, std::int64_t, std::uint32_t) { is_known[position] = true; });
    for (std::size_t i = 1; i < in_use.size(); ++i)
      if (!is_known[i]) in_use[i] = in_use[i - 1];

    const auto found = find_marked_spans(job.trace, nullptr);
    ASSERT_TRUE(found);
    for (const MarkedSpan& span : *found) {
      const std::uint64_t begin = span.begin->event, end = span.end == nullptr ? in_use.size() - 1 : span.end->event;
      std::uint64_t most = 0;
      for (std::uint64_t position = begin; position <= end; ++position) most = std::max(most, in_use[position]);
      EXPECT_EQ(most, span.most_bytes) << seed << ": " << begin << " to " << end;
      EXPECT_EQ(in_use[begin], span.begin_bytes) << seed << ": " << begin;
      ++spans;
      if (span.end == nullptr) {
        EXPECT_EQ(std::nullopt, span.length_ns(stream));
        ++open;
        continue;
      }
      EXPECT_EQ(in_use[end], span.end_bytes) << seed << ": " << end;
      EXPECT_EQ(static_cast<std::int64_t>(end - begin) * 1000, span.length_ns(stream));
    }
    EXPECT_TRUE(std::is_sorted(found->begin(), found->end(), [](const MarkedSpan& a, const MarkedSpan& b) {
      return a.begin->event < b.begin->event;
    }));
  }
  EXPECT_LT(500U, spans);
  EXPECT_LT(20U, open) << "spans without an end are a case of their own";
}

TEST(MarkedSpans, an_end_belongs_to_the_last_open_beginning_of_its_name_on_its_device) {
  TraceBuilder made;
  made.mark("a", mark_phase::begins, 0);
  made.mark("a", mark_phase::begins, 0);
  made.mark("a", mark_phase::ends, 1);  // Of nothing.
  made.mark("b", mark_phase::begins, 1);
  made.mark("a", mark_phase::ends, 0);
  made.mark("now", mark_phase::instant, 0);
  made.writer.flush();
  std::vector<std::tuple<std::uint64_t, std::uint64_t, int>> spans;
  std::size_t instants = 0;
  for_each_marked_span(
      made.trace.streams.front(),
      [&](const Mark& begin, const Mark* end, int depth) {
        spans.emplace_back(begin.event, end == nullptr ? 0 : end->event, depth);
      },
      [&](const Mark&) { ++instants; });
  EXPECT_EQ((decltype(spans){{1, 4, 1}, {0, 0, 0}, {3, 0, 0}}), spans);
  EXPECT_EQ(1U, instants);
  const auto found = find_marked_spans(made.trace, nullptr);
  ASSERT_EQ(3U, found->size());
  EXPECT_TRUE(found->front().heap.empty()) << "no heap, no figures";
}

TEST(MarkedSpans, belong_together_by_names_that_repeat_else_without_their_numbers) {
  TraceBuilder job;
  for (int step = 0; step < 9; ++step) {
    job.mark("step " + std::to_string(step), mark_phase::begins);
    for (int layer = 0; layer < 3; ++layer)
      for (const std::uint8_t phase : {mark_phase::begins, mark_phase::ends})
        job.mark("layer " + std::to_string(layer), phase);
    job.mark("step " + std::to_string(step), mark_phase::ends);
  }
  job.mark("42", mark_phase::begins);
  job.writer.flush();
  const Stream& stream = job.trace.streams.front();
  const SpanNames names(stream);
  std::set<std::string> found;
  for (const Mark& mark : stream.marks())
    if (mark.phase == mark_phase::begins) found.insert(names.of(mark));
  EXPECT_EQ((std::set<std::string>{"42", "layer 0", "layer 1", "layer 2", "step"}), found);
}

}  // namespace
}  // namespace hbmscope
