// The columns of a stream with more events than are replayed for a picture, compared with every single event.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "app/gui/core/timeline_columns.h"
#include "collector/wire/stream_writer.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

// More events than are replayed, with a pause in the middle: each column has the extremes of its events, or at most
// those of its neighbours, and nothing happens in the pause.
TEST(LongTimeline, of_millions_of_events_are_those_of_every_event) {
  constexpr std::uint64_t pages = 512, events = 4'100'000;
  constexpr std::size_t count = 300, near = 2;
  Stream stream;
  wire::StreamWriter writer{
      0, [&stream](const wire::SharedBlock& block) { ASSERT_EQ(std::nullopt, stream.append(block)); }};
  wire::HeapRecord heap;
  writer.define_heap(heap, "heap", "device");
  std::vector<std::uint64_t> in_use{0};
  std::vector<std::int64_t> times{0};
  std::mt19937 random(4);
  std::vector<std::uint64_t> size_of(pages);
  for (std::int64_t time_ns = 1000; writer.next_event() < events; time_ns += 1000) {
    const std::uint64_t page = random() % pages;
    if (writer.next_event() == events / 2) time_ns += std::int64_t{1000} * events / 2;
    if (size_of[page] != 0) {
      writer.free(1, page << 20, 0, 0, time_ns);
      in_use.push_back(in_use.back() - std::exchange(size_of[page], 0));
    } else {
      wire::AllocRecord block;
      block.heap = 1;
      block.address = page << 20;
      block.size = size_of[page] = 1 + random() % mib;
      writer.alloc(block, time_ns);
      in_use.push_back(in_use.back() + block.size);
    }
    times.push_back(time_ns);
  }
  writer.flush();
  const TimelineColumns timeline = *compute_timeline_columns(stream, {0, 1}, {}, count, TimelineEffort::exact, false);
  std::vector<Band> exact(count, Band{~std::uint64_t{0}, 0});
  exact[0].add(0);
  std::size_t last = 0;
  for (std::size_t position = 1; position < in_use.size(); ++position) {
    const std::size_t column = timeline.column_of(timeline.share_of(position, times[position]), count);
    for (; last < column; ++last) exact[last + 1].add(in_use[position - 1]);  // It begins with what was there.
    exact[column].add(in_use[position]);
  }
  std::size_t still = 0;
  for (std::size_t column = 0; column < count; ++column) {
    Band around = exact[column];
    for (std::size_t i = column - std::min(column, near); i <= std::min(count - 1, column + near); ++i)
      around.add(exact[i]);
    const TimelineColumn& found = timeline.columns[column];
    ASSERT_LE(found.in_use.least, exact[column].least) << column;
    ASSERT_GE(found.in_use.most, exact[column].most) << column;
    ASSERT_GE(found.in_use.least, around.least) << column;
    ASSERT_LE(found.in_use.most, around.most) << column;
    ASSERT_EQ(in_use[found.most_position], found.in_use.most) << column;
    still += found.in_use.least == found.in_use.most;
  }
  EXPECT_NEAR(count / 3.0, static_cast<double>(still), 2 * near + 1) << "the pause";
}

}  // namespace
}  // namespace hbmscope::gui
