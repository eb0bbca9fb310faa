// The bins of BFC allocators: computed from blocks and free blocks, compared with what a dump reports.
#include "analysis/query/bfc_bins.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/query/reported_rows.h"
#include "analysis/read/bfc/reported_bins.h"
#include "analysis/read/source/read_source.h"
#include "tests/analysis/log_texts.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

std::vector<BfcBin> bins_of(const Trace& trace) {
  return compute_bfc_bins(trace.streams.front(), trace.streams.front().last_state(), 1);
}

TEST(BfcBins, follow_from_the_blocks_and_free_blocks_of_a_log) {
  const Trace trace = tests::trace_of(tests::joined(tests::bfc_lines()));
  ASSERT_TRUE(is_of_bfc(trace.streams.front(), 1));
  EXPECT_TRUE(has_reported_bins(trace.streams.front(), 1));
  const auto bins = bins_of(trace);
  ASSERT_EQ(bins.size(), 2);
  EXPECT_EQ(bins[0].from_bytes, 1 * mib);
  EXPECT_EQ(bins[0].computed.blocks, 2U);
  EXPECT_EQ(bins[0].computed.blocks_in_use, 1U);
  EXPECT_EQ(bins[0].computed.bytes, 2 * mib);
  EXPECT_EQ(bins[0].computed.in_use_bytes, 1 * mib);
  EXPECT_FALSE(bins[0].computed.requested_bytes);  // A log's list has no requested sizes,
  EXPECT_EQ(bins[0].reported.requested_bytes, 1 * mib);
  EXPECT_EQ(bins[0].reported.blocks, 2U);
  EXPECT_EQ(bins[1].from_bytes, 2 * mib);
  EXPECT_EQ(bins[1].computed.blocks, 1U);
  EXPECT_FALSE(bins[1].reported.blocks);  // and this one has no line about the second bin.
  EXPECT_EQ(trace.import.count_of("bins_checked"), 1);
  EXPECT_EQ(trace.import.count_of("bins_differ"), 0);
  for (const CounterRow& row : compute_counter_rows(trace, Moment{{trace.streams.front().end_position()}, {}}))
    EXPECT_EQ(row.name.find("bfc_bin"), std::string::npos) << row.name;
}

TEST(BfcBins, a_difference_from_the_list_is_counted) {
  std::vector<std::string> lines = tests::bfc_lines();
  lines[4].replace(lines[4].find("Total Chunks: 2"), 15, "Total Chunks: 3");
  const Trace trace = tests::trace_of(tests::joined(lines));
  EXPECT_EQ(trace.import.count_of("bins_differ"), 1);
  EXPECT_EQ(bins_of(trace)[0].computed.blocks, 2U);
  EXPECT_EQ(bins_of(trace)[0].reported.blocks, 3U);
}

TEST(BfcBins, of_a_list_that_is_cut_off_only_the_reported_ones_are_known) {
  std::vector<std::string> lines = tests::bfc_lines();
  lines.resize(8);
  const Trace trace = tests::trace_of(tests::joined(lines));
  const auto bins = bins_of(trace);
  ASSERT_EQ(bins.size(), 1);
  EXPECT_FALSE(bins[0].computed.blocks);
  EXPECT_EQ(bins[0].reported.blocks, 2U);
  EXPECT_EQ(trace.import.count_of("bins_checked"), 0);
}

TEST(BfcBins, the_last_bin_has_all_larger_blocks) {
  bfc::Dump dump;
  dump.bins.push_back({256, 1, 1, PrintedBytes{300, 0}, PrintedBytes{300, 0}, std::nullopt});
  dump.bins.push_back({256 * mib, 2, 0, PrintedBytes{0, 0}, PrintedBytes{0, 0}, std::nullopt});
  std::size_t known = 0, all = 0;
  bfc::for_each_bin_figure(dump, [&](const std::string& name, const MaybeBytes& value) {
    ++all;
    known += value ? 1 : 0;
    if (name == "bfc_bin_268435456_chunks") {
      EXPECT_EQ(value->bytes, 2);
    }
  });
  EXPECT_EQ(all, 105);
  EXPECT_EQ(known, 8);
}

TEST(BfcBins, sizes_are_printed_as_xla_prints_them) {
  EXPECT_TRUE(bfc::is_printed_as(47107584, {47102034, 5243}));  // 44.92MiB
  EXPECT_FALSE(bfc::is_printed_as(47107584 + 2048, {47102034, 5243}));
  EXPECT_TRUE(bfc::is_printed_as(256, {256, 0}));
  EXPECT_FALSE(bfc::is_printed_as(257, {256, 0}));
}

TEST(BfcBinsRecorded, computed_ones_are_those_that_the_dumps_report) {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data = named != nullptr ? named : "../shared/data";
  std::size_t checked = 0;
  std::error_code error;
  for (const char* folder : {"real_oom", "bfc/samples", "wild"})
    for (const auto& entry : std::filesystem::directory_iterator(data / folder, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".memorydump.pb") && !name.ends_with(".log.txt") && !name.ends_with(".log") &&
          !name.ends_with(".e"))
        continue;
      SCOPED_TRACE(entry.path().string());
      const auto source = read_source(entry.path().string(), {});
      if (!source || source->trace == nullptr) continue;
      const Trace& trace = *source->trace;
      if (trace.import.count_of("bins_checked") == 0) continue;
      ++checked;
      EXPECT_EQ(trace.import.count_of("bins_differ"), 0);
      for (const BfcBin& bin : bins_of(trace)) {
        EXPECT_EQ(bin.computed.blocks, bin.reported.blocks) << bin.from_bytes;
        EXPECT_EQ(bin.computed.blocks_in_use, bin.reported.blocks_in_use) << bin.from_bytes;
      }
    }
  if (checked == 0) GTEST_SKIP() << "no whole dump in ../shared/data (HBMSCOPE_DATA names the folder)";
}

}  // namespace
}  // namespace hbmscope
