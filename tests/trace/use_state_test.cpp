// Bytes in use only, compared with a full state for the same events.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/trace/apply_block.h"
#include "analysis/trace/stream.h"
#include "analysis/trace/use_state.h"
#include "tests/trace/random_source.h"

namespace hbmscope {
namespace {

using After = std::tuple<std::uint64_t, std::int64_t, std::uint32_t, std::uint64_t>;

// Without what UseState refuses.
struct RegularSource : RandomSource {
  explicit RegularSource(std::uint64_t seed) : RandomSource(seed) { has_listings = false; }
};

void write(RandomSource& source, int steps) {
  for (int i = 0; i < steps; ++i) {
    source.step();
    if (source.pick(200) == 0) source.writer.flush();
  }
  source.writer.flush();
}

Stream read(const RandomSource& source, Stream::Keeps keeps) {
  Stream stream(keeps);
  for (const wire::SharedBlock& block : source.blocks) EXPECT_EQ(std::nullopt, stream.append(block));
  return stream;
}

TEST(UseState, is_as_a_whole_state_after_every_event) {
  std::uint64_t changes = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RegularSource source(seed);
    write(source, 4000);
    Definitions definitions;
    UseState use;
    StreamState state;
    wire::BlockDecoder decoder, other_decoder;
    wire::DecodedBlock all, some;
    for (std::size_t number = 0; number < source.blocks.size(); ++number) {
      ASSERT_EQ(std::nullopt, decoder.decode(*source.blocks[number], all));
      ASSERT_EQ(std::nullopt, other_decoder.decode(*source.blocks[number], some, UseState::fields()));
      definitions.add(all);
      std::vector<After> expected, found;
      state.apply(all, number, definitions, ~std::uint64_t{0},
                  [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
                    expected.emplace_back(position, time_ns, heap, state.in_use_bytes(heap));
                  });
      ASSERT_TRUE(use.apply(some, definitions,
                            [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap, std::uint64_t bytes) {
                              found.emplace_back(position, time_ns, heap, bytes);
                            }));
      // Regions, moves and requested frees do not change bytes in use: a full state includes them, this one does not.
      std::vector<After> telling;
      for (const After& after : expected) {
        const auto [position, time_ns, heap, bytes] = after;
        const auto at =
            std::find_if(found.begin(), found.end(), [&, heap = heap, position = position](const After& one) {
              return std::get<0>(one) == position && std::get<2>(one) == heap;
            });
        if (at != found.end()) telling.push_back(after);
        ASSERT_EQ(use.position(), state.position());
      }
      ASSERT_EQ(telling, found);
      for (std::uint32_t heap = 1; heap < definitions.heaps().size(); ++heap)
        ASSERT_EQ(state.in_use_bytes(heap), use.in_use_bytes(heap));
      changes += found.size();
    }
  }
  EXPECT_GT(changes, 80'000U);
}

TEST(UseState, gives_a_stream_its_peaks_counts_and_curves) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RegularSource source(seed);
    write(source, 4000);
    const Stream whole = read(source, Stream::Keeps::everything), curves = read(source, Stream::Keeps::curves);
    ASSERT_FALSE(curves.needs_everything());
    EXPECT_EQ(whole.counts().total, curves.counts().total);
    EXPECT_EQ(whole.counts().alloc, curves.counts().alloc);
    EXPECT_EQ(whole.counts().free, curves.counts().free);
    EXPECT_EQ(whole.end_position(), curves.end_position());
    EXPECT_EQ(whole.last_time_ns(), curves.last_time_ns());
    EXPECT_EQ(0U, curves.blocks().size());
    for (std::uint32_t heap = 1; heap < whole.definitions().heaps().size(); ++heap) {
      EXPECT_EQ(whole.definitions().heap(heap).name, curves.definitions().heap(heap).name);
      EXPECT_EQ(whole.peak(heap).in_use_bytes, curves.peak(heap).in_use_bytes);
      EXPECT_EQ(whole.peak(heap).position, curves.peak(heap).position);
      EXPECT_EQ(whole.peak(heap).time_ns, curves.peak(heap).time_ns);
      std::uint64_t highest = 0;
      curves.curve(heap).for_each_stretch(
          [&](std::int64_t, std::int64_t, std::uint64_t in_use) { highest = std::max(highest, in_use); });
      EXPECT_EQ(curves.peak(heap).in_use_bytes, highest);
      EXPECT_EQ(whole.last_state().in_use_bytes(heap), curves.curve(heap).now());
    }
  }
}

TEST(UseState, refuses_what_only_a_whole_state_knows) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomSource source(seed);
    source.has_losses = true;
    write(source, 4000);
    refused += read(source, Stream::Keeps::curves).needs_everything() ? 1 : 0;
  }
  EXPECT_GT(refused, 30U);

  // A block is missing: of events, of definitions, at the end.
  RegularSource source(1);
  write(source, 4000);
  ASSERT_FALSE(read(source, Stream::Keeps::curves).needs_everything());
  const auto blocks = source.blocks;
  for (std::size_t missing = 0; missing < blocks.size(); ++missing) {
    Stream stream(Stream::Keeps::curves);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      ASSERT_EQ(std::nullopt, i == missing ? std::nullopt : stream.append(blocks[i]));
    stream.note_written(source.writer.next_event(), blocks.size());
    EXPECT_TRUE(stream.needs_everything()) << missing;
  }
}

// Memory in use before the first event is the start of the curve, and may be the peak.
TEST(UseState, begins_with_what_lives_already) {
  std::vector<wire::SharedBlock> blocks;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { blocks.push_back(std::move(block)); });
  const std::uint32_t heap = writer.define_heap({}, "heap", "device");
  for (std::uint64_t i = 0; i < 3; ++i) {
    wire::LiveRecord live;
    live.address = 4096 * i;
    live.size = 1000;
    live.heap = heap;
    writer.live(live);
  }
  writer.free(heap, 4096, 0, 0, 60);
  writer.flush();
  Stream stream(Stream::Keeps::curves);
  for (const wire::SharedBlock& block : blocks) ASSERT_EQ(std::nullopt, stream.append(block));
  ASSERT_FALSE(stream.needs_everything());
  EXPECT_EQ(3000U, stream.peak(heap).in_use_bytes);
  EXPECT_EQ(0U, stream.peak(heap).position);
  EXPECT_EQ(2000U, stream.curve(heap).now());
}

// A slot number far above the others would take memory that the file does not justify.
TEST(UseState, refuses_slots_far_away) {
  for (const std::uint32_t slot : {0U, 1U, 4095U, 4096U, 4097U, 1U << 30}) {
    wire::BlockEncoder encoder;
    wire::HeapRecord heap;
    heap.id = 1;
    encoder.add(heap, 0);
    wire::LiveRecord live;
    live.heap = 1;
    live.size = 64;
    live.slot = slot;
    encoder.add(live, 0);
    Stream stream(Stream::Keeps::curves);
    ASSERT_EQ(std::nullopt, stream.append(std::make_shared<const wire::Block>(encoder.close())));
    EXPECT_EQ(slot >= 4096, stream.needs_everything()) << slot;
  }
}

TEST(UseCurve, has_the_highest_of_each_stretch_however_long_it_becomes) {
  std::mt19937_64 random(3);
  UseCurve curve;
  std::vector<std::pair<std::int64_t, std::uint64_t>> all;
  std::int64_t place = -1'000'000;
  for (int i = 0; i < 20'000; ++i) {
    place += static_cast<std::int64_t>(random() % (1ULL << random() % 30));
    const std::int64_t reported = place - static_cast<std::int64_t>(random() % 2);  // A clock may step back.
    all.emplace_back(all.empty() ? reported : std::max(reported, all.back().first), random() % 1000);
    curve.add(reported, all.back().second);
  }
  std::size_t stretches = 0, next = 0;
  std::uint64_t now = 0;
  std::int64_t end = all.front().first;
  curve.for_each_stretch([&](std::int64_t first, std::int64_t last, std::uint64_t in_use) {
    EXPECT_EQ(stretches == 0 ? first : end, first);
    std::uint64_t highest = now;  // The value at the beginning of the stretch.
    for (; next < all.size() && all[next].first <= last; ++next) {
      highest = std::max(highest, all[next].second);
      now = all[next].second;
    }
    EXPECT_EQ(highest, in_use);
    end = last + 1;
    ++stretches;
  });
  EXPECT_EQ(all.size(), next);
  EXPECT_EQ(all.back().second, curve.now());
  EXPECT_LE(stretches, UseCurve::stretches_max);
  EXPECT_GT(stretches, UseCurve::stretches_max / 2);
}

}  // namespace
}  // namespace hbmscope
