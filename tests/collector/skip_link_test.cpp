// Viewers that do not want the past: the request, the answer, and the bytes in between.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "collector/view/link_reader.h"
#include "tests/collector/link_fixture.h"

namespace hbmscope {
namespace {

using SkipLink = LinkTest;

// Megabytes that the viewer does not want, in blocks, one of which is in flight when it sends the request.
TEST_F(SkipLink, OneThatSkipsToNowHasAllThatIsThereAndWhatComes) {
  writer.keep_state();
  Viewer whole, skipping, asks_too_early;
  ASSERT_TRUE(asks_too_early.open(port.socket_path()));
  asks_too_early.ask(link::RequestKind::skip_to_now);  // Nobody makes keyframes yet.
  record(1000);
  turn(asks_too_early, 3);
  EXPECT_EQ(asks_too_early.last.flags & link::status_flag::can_skip, 0U);
  int made = 0;
  port.set_keyframes([&] {
    ++made;
    return writer.make_keyframe();
  });
  ASSERT_TRUE(whole.open(port.socket_path()));
  ASSERT_TRUE(skipping.open(port.socket_path()));
  turn(skipping, 3);
  EXPECT_EQ(skipping.events(), 1000U);
  EXPECT_NE(skipping.last.flags & link::status_flag::can_skip, 0U);
  std::mt19937_64 source(1);
  const auto add_noise = [&](int count) {
    for (int i = 0; i < count; ++i) {
      wire::CounterRecord noise;
      noise.value = static_cast<std::int64_t>(source());
      writer.add(noise, 1000 + i);
    }
    writer.flush();
  };
  for (int round = 0; round < 50; ++round) add_noise(20'000);
  record(500);
  port.serve({});  // A socket full of it is on its way.
  skipping.ask(link::RequestKind::skip_to_now);
  for (int i = 0; i < 100 && skipping.trace.version()->streams[0].end_position() < 1'001'500; ++i) turn(skipping);
  const auto after_skip = skipping.trace.version();
  EXPECT_EQ(made, 1);
  const Stream& stream = after_skip->streams[0];
  EXPECT_EQ(stream.end_position(), 1'001'500U);
  EXPECT_GT(stream.counts().skipped, 0U);
  EXPECT_EQ(stream.counts().skipped + skipping.events(), 1'001'500U);
  EXPECT_EQ(stream.counts().lost, 0U);
  EXPECT_EQ(stream.state_at(1'001'500).in_use_bytes(1), 1500U * 512);
  EXPECT_FALSE(stream.state_at(1'001'500).is_inexact(1));
  record(2500);
  for (int i = 0; i < 400 && whole.events() < 1'004'000; ++i) turn(whole);
  turn(skipping, 4);
  EXPECT_EQ(skipping.trace.bad_blocks(), 0U);
  const auto all = whole.trace.version(), some = skipping.trace.version();
  EXPECT_EQ(all->streams[0].end_position(), some->streams[0].end_position());
  EXPECT_EQ(all->streams[0].state_at(1'004'000).in_use_bytes(1), 4000U * 512);
  EXPECT_EQ(some->streams[0].state_at(1'004'000).in_use_bytes(1), 4000U * 512);
  EXPECT_EQ(some->streams[0].counts().missing_blocks, 0U);
  // A link lost after that continues at its position; a viewer that has everything skips nothing.
  const std::uint64_t skipped = some->streams[0].counts().skipped;
  record(1000);
  ASSERT_TRUE(skipping.open_again(port.socket_path()));
  turn(skipping, 4);
  skipping.ask(link::RequestKind::skip_to_now);
  turn(skipping, 4);
  EXPECT_EQ(skipping.trace.version()->streams[0].end_position(), 1'005'000U);
  EXPECT_EQ(skipping.trace.version()->streams[0].counts().skipped, skipped);
  EXPECT_EQ(skipping.trace.bad_blocks(), 0U);
}

TEST_F(SkipLink, WhoAsksToSkipAgainAndAgainIsNotAlwaysAnswered) {
  writer.keep_state();
  int made = 0;
  port.set_keyframes([&] {
    ++made;
    return writer.make_keyframe();
  });
  record(1000);
  Viewer viewer;
  ASSERT_TRUE(viewer.open(port.socket_path()));
  for (int i = 0; i < 1000; ++i) {
    viewer.ask(link::RequestKind::skip_to_now);
    turn(viewer);
  }
  EXPECT_LE(made, 5);  // One per second.
  EXPECT_EQ(viewer.events(), 1000U);
}

// As if the connection is lost between two keyframes: neither counts.
TEST(SkipLinkReader, KeyframesThatHaveNotAllComeAreForgotten) {
  std::vector<wire::SharedBlock> blocks, written;
  wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) { written.push_back(block); });
  writer.keep_state();
  for (int i = 0; i < 100; ++i) writer.add(wire::CounterRecord{}, i);
  const std::vector<wire::SharedBlock> keyframe = writer.make_keyframe();
  view::LinkReader reader([&](const wire::SharedBlock& block) { blocks.push_back(block); }, [](const link::Status&) {});
  const auto bytes_of = [](const auto& value) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
    return std::vector<std::uint8_t>(bytes, bytes + sizeof(value));
  };
  const auto say = [&](const std::vector<std::uint8_t>& bytes) { return reader.feed(bytes); };
  const auto begin_frame = [&](link::FrameKind kind, std::uint64_t bytes) {
    link::FrameHeader frame;
    frame.kind = kind;
    frame.bytes = bytes;
    EXPECT_EQ(say(bytes_of(frame)), std::nullopt);
  };
  std::vector<std::uint8_t> all;
  for (const wire::SharedBlock& block : keyframe) {
    const auto header = bytes_of(block->header);
    all.insert(all.end(), header.begin(), header.end());
    all.insert(all.end(), block->payload.begin(), block->payload.end());
  }
  link::Welcome welcome;
  welcome.version = link::version;
  welcome.session = 5;
  const auto begin = [&] {
    reader.begin();
    EXPECT_EQ(say(bytes_of(welcome)), std::nullopt);
    begin_frame(link::FrameKind::skip, sizeof(link::Skip));
    EXPECT_EQ(say(bytes_of(link::Skip{1000, all.size()})), std::nullopt);
  };
  begin();
  begin_frame(link::FrameKind::recording, all.size());
  EXPECT_EQ(say({all.begin(), all.end() - 1}), std::nullopt);
  EXPECT_TRUE(blocks.empty());
  EXPECT_EQ(reader.place(), 0U);
  begin();
  begin_frame(link::FrameKind::recording, all.size());
  EXPECT_EQ(say(all), std::nullopt);
  EXPECT_EQ(blocks.size(), keyframe.size());
  EXPECT_EQ(reader.place(), 1000U);
  // Skips that go back, are too long, or end inside a keyframe are invalid.
  for (const link::Skip& bad : {link::Skip{999, 0}, link::Skip{1000, link::skip_bytes_max + 1}}) {
    view::LinkReader another = reader;
    link::FrameHeader frame;
    frame.kind = link::FrameKind::skip;
    frame.bytes = sizeof(bad);
    EXPECT_EQ(another.feed(bytes_of(frame)), std::nullopt);
    EXPECT_NE(another.feed(bytes_of(bad)), std::nullopt);
  }
  begin_frame(link::FrameKind::skip, sizeof(link::Skip));
  EXPECT_EQ(say(bytes_of(link::Skip{2000, all.size() - 1})), std::nullopt);
  begin_frame(link::FrameKind::recording, all.size());
  EXPECT_NE(say(all), std::nullopt);
}

}  // namespace
}  // namespace hbmscope
