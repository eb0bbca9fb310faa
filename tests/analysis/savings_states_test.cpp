// Savings, compared with sums over the states of random streams, and with passes over recorded snapshots.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/diagnose/savings.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/pass.h"
#include "tests/trace/random_source.h"

namespace hbmscope {
namespace {

// The state after each event, with the live bytes of each line added up from its blocks and handles.
std::map<std::string, std::uint64_t> live_by_line(const StreamState& state, const Definitions& definitions,
                                                  std::uint32_t heap) {
  std::map<std::string, std::uint64_t> live;
  for (const LiveBlock& block : state.slots())
    if (block.heap == heap) live[user_code_text(definitions, block.stack)] += block.size;
  for (const PhysicalHandle& handle : state.physical().handles())
    if (handle.heap == heap && handle.is_live() && !handle.is_imported)
      live[user_code_text(definitions, handle.stack)] += handle.size;
  return live;
}
std::string line_text(const Site& site) {
  if (!site.has_frame()) return site.name;
  const std::string file = std::filesystem::path(site.file).filename().string();
  return site.function + "  " + file + (site.line > 0 ? ":" + std::to_string(site.line) : "");
}

TEST(Savings, are_those_of_the_states_on_random_streams_with_handles_and_listings) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomSource source(seed);
    for (int i = 0; i < 300; ++i) {
      source.step();
      if (source.heaps.empty() || source.pick(12) > 0) continue;
      // Few numbers: some are used again before their release.
      wire::PhysicalCreateRecord made;
      made.handle = 1'000'000 + source.pick(4);
      made.size = RandomSource::page * (1 + source.pick(4));
      made.heap = source.heaps[source.pick(source.heaps.size())];
      made.stack = source.stacks[source.pick(source.stacks.size())];
      source.writer.add(made, source.time_ns);
    }
    source.writer.flush();
    Trace trace{{"made-up.trace"}, "test", "Test", {}, 0, 0, std::vector<Stream>(1), {}, {}};
    Stream& stream = trace.streams.front();
    for (const auto& block : source.blocks) ASSERT_EQ(stream.append(block), std::nullopt);
    for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap) {
      std::map<std::string, UsePoint> next;
      std::vector<std::pair<UsePoint, std::map<std::string, std::uint64_t>>> points;
      pass_over_states(stream, stream.end_position(), nullptr,
                       [&](const StreamState& state, std::uint64_t position, std::int64_t time_ns, std::uint32_t of) {
                         if (of != heap) return;
                         points.push_back({{state.in_use_bytes(heap), position, time_ns},
                                           live_by_line(state, stream.definitions(), heap)});
                         for (const auto& [line, bytes] : points.back().second) next[line] = {};
                       });
      for (auto& [line, peak] : next)
        for (const auto& [point, live] : points) {
          const auto own = live.find(line);
          const std::uint64_t bytes = point.in_use_bytes - (own == live.end() ? 0 : own->second);
          if (bytes > peak.in_use_bytes) peak = {bytes, point.position, point.time_ns};
        }
      const Savings savings = compute_savings(trace, {0, heap}, {}, nullptr).value();
      ASSERT_EQ(savings.peak.in_use_bytes, stream.peak(heap).in_use_bytes);
      for (const SiteSaving& row : savings.sites) {
        const std::string line = line_text(row.site);
        ASSERT_TRUE(next.contains(line)) << line;
        ASSERT_EQ(row.next_peak.in_use_bytes, next[line].in_use_bytes) << line;
        ASSERT_EQ(row.next_peak.position, next[line].position) << line;
        ++compared;
      }
      ASSERT_EQ(savings.sites.size(), next.size());
    }
  }
  EXPECT_GT(compared, 500U);
}

// One line of a recorded trace, left out: a pass over its events that adds up only the blocks of the others.
UsePoint peak_without_line(const Stream& stream, std::uint32_t heap, const std::vector<std::string>& line_of_stack,
                           const std::string& line) {
  UsePoint peak;
  std::uint64_t own = 0;
  const auto is_own = [&](std::uint32_t stack) { return line_of_stack[stack] == line; };
  pass_over_heaps(
      stream, stream.end_position(), nullptr,
      [&](const StreamState& state, const HeapChange& change, const wire::DecodedBlock&) {
        if (change.heap != heap) return;
        if (change.what == HeapChange::What::allocated) {
          if (is_own(change.allocated.stack)) own += possible_size(change.allocated);
        } else if (change.what == HeapChange::What::freed) {
          if (is_own(change.block->stack)) own -= change.block->size;
        } else if (change.place.kind == wire::RecordKind{} || change.place.kind == wire::RecordKind::heap_gone) {
          own = 0;
          for (const LiveBlock& block : state.slots())
            if (block.heap == heap && is_own(block.stack)) own += block.size;
        }
        const std::uint64_t bytes = state.in_use_bytes(heap) - own;
        if (bytes > peak.in_use_bytes) peak = {bytes, change.position, change.time_ns};
      },
      [](const wire::DecodedBlock&, const RecordPlace&) {});
  return peak;
}

TEST(SavingsRecorded, are_those_of_a_pass_without_the_line) {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data = named != nullptr ? named : "../shared/data";
  std::size_t files = 0, lines = 0;
  for (const char* name : {"torch/train_0c0e8a73.pickle", "torch/forward_segment_free_ctx512.pickle",
                           "wild/t_wedson_512_training.pickle", "wild/t_kkait_memory_ctx512_fullstep_.pickle"}) {
    if (!std::filesystem::exists(data / name)) continue;
    SCOPED_TRACE(name);
    const auto source = read_source((data / name).string(), {});
    ASSERT_TRUE(source);
    const Trace& trace = *source->trace;
    const HeapKey key = choose_heap(trace, {});
    const Stream& stream = trace.streams[key.stream];
    std::vector<std::string> line_of_stack;
    for (std::uint32_t stack = 0; stack < stream.definitions().stack_count(); ++stack) {
      const OwnPlace place = find_own_place(stream.definitions(), stack);
      line_of_stack.push_back(place.frame ? std::string(stream.definitions().text(place.frame->function)) + " " +
                                                std::string(stream.definitions().text(place.frame->file)) + ":" +
                                                std::to_string(place.frame->line)
                                          : std::string(no_user_code_text(stream.definitions(), stack)));
    }
    const Savings savings = compute_savings(trace, key, {}, nullptr).value();
    EXPECT_EQ(savings.peak.in_use_bytes, stream.peak(key.heap).in_use_bytes);
    for (const SiteSaving& row : savings.sites) {
      const std::string line = row.site.has_frame()
                                   ? row.site.function + " " + row.site.file + ":" + std::to_string(row.site.line)
                                   : row.site.name;
      const UsePoint expected = peak_without_line(stream, key.heap, line_of_stack, line);
      EXPECT_EQ(row.next_peak.in_use_bytes, expected.in_use_bytes) << line;
      EXPECT_EQ(row.next_peak.position, expected.position) << line;
      ++lines;
    }
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "no snapshots in ../shared/data (HBMSCOPE_DATA names the folder)";
  RecordProperty("files", static_cast<int>(files));
  RecordProperty("lines", static_cast<int>(lines));
}

}  // namespace
}  // namespace hbmscope
