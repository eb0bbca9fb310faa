// Everything that a stream contains besides blocks is stored or counted: counters, attributes, clocks, modules, and
// kinds that a newer version writes.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "analysis/trace/moment.h"
#include "analysis/trace/trace.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

TEST(CounterTable, value_at_any_position_is_the_last_reported_one) {
  std::mt19937_64 random(1);
  CounterTable table;
  std::vector<std::vector<CounterSample>> naive(3);
  std::uint64_t event = 0;
  for (int i = 0; i < 20'000; ++i) {
    event += 1 + random() % 5;
    const auto which = static_cast<std::uint32_t>(random() % 3);
    const CounterSample sample{event, static_cast<std::int64_t>(event * 1500 + random() % 1000),
                               static_cast<std::int64_t>(random() % (std::uint64_t{80} << 30) / 512 * 512)};
    table.add({7, which}, sample);
    naive[which].push_back(sample);
  }
  for (std::uint32_t which = 0; which < 3; ++which) {
    const CounterSeries* series = table.find({7, which});
    ASSERT_NE(nullptr, series);
    std::vector<CounterSample> all;
    series->for_each([&](const CounterSample& sample) { all.push_back(sample); });
    ASSERT_EQ(naive[which], all);
    std::optional<CounterSample> last;
    std::size_t next = 0;
    for (std::uint64_t position = 0; position < event + 3; ++position) {
      while (next < all.size() && all[next].event < position) last = all[next++];
      if (position % 7 != 0 && position > 40) continue;
      ASSERT_EQ(last, series->at(position)) << position;
    }
  }
  // Random figures of 37 bits are the worst there is; still a sample has its place.
  EXPECT_LT(table.memory_bytes(), 16U * 20'000);
  EXPECT_EQ(nullptr, table.find({8, 0}));
}

TEST(CounterTable, extremes_come_back) {
  CounterSeries series;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
  const std::vector<CounterSample> samples = {{0, most, least}, {1, least, most}, {2, 0, -1}, {1ULL << 61, most, 0}};
  for (const CounterSample& sample : samples) series.add(sample);
  EXPECT_EQ(std::nullopt, series.at(0));
  for (const CounterSample& sample : samples) EXPECT_EQ(sample, series.at(sample.event + 1));
}

TEST(AttributeTable, all_of_an_allocation_in_the_order_of_their_records) {
  std::mt19937_64 random(2);
  AttributeTable table;
  std::vector<std::vector<Attribute>> naive(300);
  for (std::uint64_t event = 0; event < 5000; ++event) {
    const Attribute attribute{random() % std::min<std::uint64_t>(300, event + 1), event,
                              static_cast<std::uint32_t>(random() % 4), 9};
    table.add(attribute);
    naive[attribute.allocation].push_back(attribute);
    if (event % 611 != 0) continue;
    ASSERT_EQ(naive[attribute.allocation], table.find(attribute.allocation));
  }
  for (std::uint64_t allocation = 0; allocation < 300; ++allocation)
    ASSERT_EQ(naive[allocation], table.find(allocation));
  EXPECT_TRUE(table.find(300).empty());
}

ClockTable table_of(const std::vector<ClockReading>& readings) {
  ClockTable table;
  for (const ClockReading& reading : readings) table.add(reading);
  return table;
}

TEST(ClockTable, time_of_day_between_and_outside_of_readings) {
  // The time of day was slewed: 10 s of the stream are 11 s of the day.
  const ClockTable clocks = table_of({{0, 100 * second_ns, 0}, {10 * second_ns, 111 * second_ns, 0}});
  EXPECT_EQ(100 * second_ns, clocks.realtime_of(0));
  EXPECT_EQ(105'500'000'000, clocks.realtime_of(5 * second_ns));
  EXPECT_EQ(112 * second_ns, clocks.realtime_of(11 * second_ns));
  EXPECT_EQ(98 * second_ns, clocks.realtime_of(-2 * second_ns));
  EXPECT_EQ(std::nullopt, table_of({{5, 0, 77}}).realtime_of(5));
  EXPECT_EQ("2026-11-21 13:20:11.123456 UTC", text_from_realtime(1'795'267'211'123'456'789));
  EXPECT_EQ("1969-12-31 23:59:59.999999 UTC", text_from_realtime(-1));
}

TEST(ClockTable, a_time_on_another_streams_clock) {
  const ClockTable by_day = table_of({{1000, 5 * second_ns, 0}});
  const ClockTable other = table_of({{7'000'000, 6 * second_ns, 0}});
  EXPECT_EQ(7'000'000 - second_ns + 23, by_day.time_on(other, 1023));
  // A counter of 3 GHz, and a stream whose clock runs at half the speed of the other's.
  const ClockTable slow = table_of({{0, 0, 3000}, {500, 0, 6000}}), fast = table_of({{50, 0, 3000}, {1050, 0, 6000}});
  EXPECT_EQ(550, slow.time_on(fast, 250));
  EXPECT_EQ(2050, slow.time_on(fast, 1000)) << "goes on as it went";
  EXPECT_EQ(std::nullopt, slow.time_on(by_day, 250)) << "nothing in common";
  EXPECT_EQ(std::nullopt, table_of({{0, 0, 3000}}).time_on(fast, 0)) << "one reading of a counter has no speed";
}

// Two streams with their own clocks, an allocation every second on both, beginning at the same time.
TEST(Moment, streams_with_clocks_show_the_same_instant) {
  const auto make = [](bool has_clocks) {
    Trace trace;
    for (std::int64_t offset : {std::int64_t{0}, 900 * second_ns}) {
      Stream& stream = trace.streams.emplace_back();
      wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
      const std::uint32_t heap = writer.define_heap({}, "GPU", "device");
      wire::ClockRecord clock;
      clock.realtime_ns = 1'795'267'211'000'000'000;
      if (has_clocks) writer.add(clock, offset);
      for (std::int64_t second = 1; second <= 10; ++second) {
        wire::AllocRecord block;
        block.address = static_cast<std::uint64_t>(second) << 20;
        block.size = 512;
        block.heap = heap;
        writer.alloc(block, offset + second * second_ns);
      }
      writer.flush();
    }
    return trace;
  };
  const auto with = find_moment(make(true), "3.5s");
  ASSERT_TRUE(with.has_value());
  EXPECT_EQ((std::vector<std::uint64_t>{4, 4}), with->positions);
  EXPECT_EQ("3.5s after the first event, 2026-11-21 13:20:15.500000 UTC", with->text);
  const auto without = find_moment(make(false), "3.5s");
  ASSERT_TRUE(without.has_value());
  EXPECT_EQ((std::vector<std::uint64_t>{4, 0}), without->positions) << "by their own times";
  EXPECT_EQ("3.5s after the first event", without->text);
}

TEST(Stream, holds_counters_attributes_clocks_and_modules) {
  Trace trace;
  Stream& stream = trace.streams.emplace_back();
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  const std::uint32_t heap = writer.define_heap({}, "GPU", "device");
  wire::AllocRecord block;
  block.address = 4096;
  block.size = 512;
  block.heap = heap;
  const std::uint64_t id = writer.alloc(block, 10);
  wire::CounterRecord counter;
  counter.name = writer.define_string("cuMemGetInfo.free");
  counter.heap = heap;
  counter.value = 12345;
  writer.add(counter, 20);
  wire::AttributeRecord attribute;
  attribute.allocation = id;
  attribute.key = writer.define_string("parameter");
  attribute.value = writer.define_string("layers.0.weight");
  const std::uint64_t reported = writer.add(attribute, 30);
  wire::ModuleRecord module;
  module.id = 1;
  module.base = 0x1000;
  module.size = 0x100;
  module.path = writer.define_string("libc.so.6");
  writer.add(module, 30);
  writer.flush();
  const CounterSeries* series = stream.counters().find({counter.name, heap});
  ASSERT_NE(nullptr, series);
  EXPECT_EQ(std::nullopt, series->at(1));
  EXPECT_EQ((CounterSample{1, 20, 12345}), series->at(2));
  EXPECT_EQ((std::vector<Attribute>{{id, reported, attribute.key, attribute.value}}), stream.attributes().find(id));
  EXPECT_EQ(1U, stream.definitions().find_module(0x10ff));
  EXPECT_EQ(0U, stream.definitions().find_module(0x1100));
  EXPECT_EQ("libc.so.6", stream.definitions().text(stream.definitions().modules()[0].path));
  add_problem_statistics(trace);
  EXPECT_TRUE(trace.import.rows().empty());
}

// A block of rows may contain any kind: 60 is unknown in this version, 13 occurs only in keyframes.
TEST(Stream, kinds_that_it_does_not_hold_are_counted_each) {
  auto block = std::make_shared<wire::Block>();
  for (const int kind : {60, 9, 60}) {
    wire::RowHeader row;
    row.words = 3;
    row.kind = static_cast<wire::RecordKind>(kind);
    row.struct_bytes = 8;
    block->payload.resize(block->payload.size() + 24);
    std::memcpy(block->payload.data() + block->payload.size() - 24, &row, sizeof(row));
  }
  block->header.form = wire::BlockForm::rows;
  block->header.records = 3;
  block->header.events = 2;
  block->header.stored_bytes = block->header.raw_bytes = static_cast<std::uint32_t>(block->payload.size());
  block->header.xxh3 = wire::compute_block_hash(*block);
  Trace trace;
  ASSERT_EQ(std::nullopt, trace.streams.emplace_back().append(block));
  add_problem_statistics(trace);
  EXPECT_EQ(2, trace.import.count_of("passed_over_record_60"));
  EXPECT_EQ(1, trace.import.count_of("passed_over_reserve_live"));
  EXPECT_EQ(Severity::notice, trace.import.worst());
}

TEST(Stream, frames_of_code_get_their_names_later_and_other_frames_do_not) {
  Trace trace;
  Stream& stream = trace.streams.emplace_back();
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  wire::CodeRecord code;
  code.address = 0x1234;
  code.module = writer.define_module({}, "/home/me/train", "ab12");
  const std::uint32_t of_code = writer.define_code_frame(code, "train+0x234", "/home/me/train");
  const std::uint32_t of_python = writer.define_frame("main", "train.py", 7);
  const std::uint32_t stack = writer.define_stack(writer.define_stack(0, of_python), of_code);
  writer.flush();
  const auto name_of = [](const Definitions& definitions, std::uint32_t frame) {
    return std::string(definitions.text(definitions.frame(frame).function));
  };
  EXPECT_NE(of_code, of_python);
  EXPECT_EQ("train+0x234", name_of(stream.definitions(), of_code));
  const Definitions before = stream.definitions();  // Like a window that draws meanwhile.
  writer.name_frame(of_code, "job::take(int)", "take.cpp", 12);
  writer.name_frame(of_python, "somebody_else", "train.py", 7);
  wire::CodeRecord stray;
  stray.frame = 1000;
  writer.add(stray, 0);
  writer.flush();
  const Definitions& after = stream.definitions();
  EXPECT_EQ("train+0x234", name_of(before, of_code));
  EXPECT_EQ("job::take(int)", name_of(after, of_code));
  EXPECT_EQ(12U, after.frame(after.stack(stack).frame).line);
  EXPECT_EQ("main", name_of(after, of_python));
  EXPECT_TRUE(after.is_code(of_code));
  EXPECT_FALSE(after.is_code(of_python));
  EXPECT_EQ("/home/me/train", after.code_file(of_code));
  EXPECT_EQ("", after.code_file(of_python));
  EXPECT_EQ("", after.code_file(1000));
  EXPECT_EQ(2U, after.bad_definitions());
}

}  // namespace
}  // namespace hbmscope
