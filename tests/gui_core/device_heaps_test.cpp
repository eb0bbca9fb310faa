// Heaps under their devices, and which heaps are views of the same bytes.
#include "app/gui/sources/device_heaps.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "app/gui/views/device_cards/device_cards.h"
#include "collector/wire/reported_names.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

TraceMoment moment_of(const Trace& trace, const char* at) {
  TraceMoment moment;
  moment.trace = {&trace, [](const Trace*) {}};  // The trace outlives the moment.
  moment.moment = *find_moment(trace, at);
  moment.states = compute_states(trace, moment.moment);
  return moment;
}

TEST(DeviceHeaps, heaps_stand_under_their_device_and_totals_are_of_the_moment) {
  test::SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 10 * mib);
  trace.add_heap("GPU 1");
  trace.region(0, 100 * mib);
  trace.alloc(0, 30 * mib);
  trace.add_heap("never used");
  const auto devices = find_device_heaps(trace.trace());
  ASSERT_EQ(2U, devices.size());
  EXPECT_EQ("device 0", devices[0].name);
  ASSERT_EQ(1U, devices[1].heaps.size());
  EXPECT_EQ("GPU 1", devices[1].heaps[0].name);
  EXPECT_EQ(30 * mib, devices[1].heaps[0].peak_bytes);
  EXPECT_EQ("", devices[0].heaps[0].layer);
  EXPECT_EQ(30 * mib, total_of(devices[1], moment_of(trace.trace(), "end")));
  EXPECT_EQ(0U, total_of(devices[1], moment_of(trace.trace(), "#2")));
  EXPECT_EQ(10 * mib, total_of(devices[0], moment_of(trace.trace(), "#2")));
}

TEST(DeviceHeaps, what_the_driver_handed_out_since_attaching_is_drawn_on_the_scale_of_the_pool) {
  test::SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 10 * mib);
  trace.add_layer("GPU 0 memory", wire::Layer::physical);
  trace.alloc(0, 5 * mib);
  const auto devices = find_device_heaps(trace.trace());
  ASSERT_EQ(1U, devices.size());
  ASSERT_EQ(2U, devices[0].heaps.size());
  const TraceMoment moment = moment_of(trace.trace(), "end");
  const DeviceHeap &pool = devices[0].heaps[0], &driver = devices[0].heaps[1];
  EXPECT_EQ(100 * mib, bar_bytes_of(devices[0], pool, moment));
  EXPECT_EQ(100 * mib, bar_bytes_of(devices[0], driver, moment)) << "not its own peak, which is always full";
  AttachedFacts attached;
  EXPECT_TRUE(begins_at_attaching(moment, {attached}, driver.key));
  EXPECT_FALSE(begins_at_attaching(moment, {attached}, pool.key)) << "the allocator lists its blocks";
  EXPECT_FALSE(begins_at_attaching(moment, {}, driver.key)) << "recorded from its start";
  attached.is_left_alone = true;
  EXPECT_FALSE(begins_at_attaching(moment, {attached}, driver.key)) << "only its totals are known";
}

TEST(DeviceHeaps, programs_are_a_group_of_their_own_and_small_ones_need_no_row) {
  const auto write_program = [](test::SmallTrace& program, const std::string& name, std::uint64_t bytes) {
    program.add_layer("DEVICE", wire::Layer::program);
    program.region(0, bytes);
    program.alloc(0, bytes);
    program.fact("hlo_module", name);
  };
  test::SmallTrace job;
  job.region(0, 100 * mib);
  job.alloc(0, 10 * mib);
  Trace joined;  // All of one file.
  joined.streams.push_back(job.trace().streams[0].version());
  std::vector<std::unique_ptr<test::SmallTrace>> programs;
  for (int i = 1; i <= 7; ++i) {
    programs.push_back(std::make_unique<test::SmallTrace>());
    write_program(*programs.back(), "jit_" + std::to_string(i), i < 3 ? static_cast<std::uint64_t>(i) * mib : 4096);
    joined.streams.push_back(programs.back()->trace().streams[0].version());
  }
  for (const DeviceHeaps& device : find_device_heaps(joined)) EXPECT_EQ(std::string::npos, device.name.find("jit_"));
  const auto found = find_program_heaps(joined);
  ASSERT_EQ(7U, found.size());
  EXPECT_EQ("jit_2", found[0].name);
  EXPECT_EQ(2 * mib, found[0].needed_bytes);
  EXPECT_EQ("jit_1", found[1].name);
  EXPECT_EQ(2U, count_large(found));
  EXPECT_EQ(5U, count_large({found.begin(), found.begin() + 5})) << "few enough";
  EXPECT_TRUE(find_program_heaps(programs[0]->trace()).empty()) << "a single one is shown as a device";
}

TEST(DeviceCards, each_device_has_one_with_its_room_and_its_failures_so_far) {
  test::SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 10 * mib);
  trace.alloc(50 * mib, 10 * mib);
  trace.add_heap("GPU 1");
  trace.region(0, 60 * mib);
  trace.alloc(0, 60 * mib);
  trace.run_out_of_memory(mib);
  const auto devices = find_device_heaps(trace.trace());
  const auto cards = find_device_cards(devices, moment_of(trace.trace(), "end"));
  ASSERT_EQ(2U, cards.size());
  EXPECT_EQ("device 0", cards[0].name);
  EXPECT_EQ(20 * mib, cards[0].in_use_bytes);
  EXPECT_EQ(100 * mib, cards[0].whole_bytes);
  EXPECT_EQ(80 * mib, cards[0].free_bytes);
  EXPECT_EQ(40 * mib, cards[0].largest_free_bytes);
  EXPECT_EQ(0U, cards[0].failures);
  EXPECT_EQ((HeapKey{0, 2}), cards[1].heap);
  EXPECT_EQ(0U, cards[1].free_bytes);
  EXPECT_EQ(1U, cards[1].failures);
  EXPECT_EQ(0U, find_device_cards(devices, moment_of(trace.trace(), "#4"))[1].failures) << "not yet";
  EXPECT_EQ(1U, find_device_cards(devices, moment_of(trace.trace(), "oom"))[1].failures) << "just before it, as shown";
}

TEST(DeviceCards, one_device_needs_none_and_an_unreported_pool_is_not_invented) {
  test::SmallTrace one;
  one.region(0, 100 * mib);
  EXPECT_TRUE(find_device_cards(find_device_heaps(one.trace()), moment_of(one.trace(), "end")).empty());
  test::SmallTrace two(false);
  two.alloc(0, 10 * mib);
  two.add_heap("GPU 1", false);
  two.alloc(0, 40 * mib);
  const auto cards = find_device_cards(find_device_heaps(two.trace()), moment_of(two.trace(), "end"));
  ASSERT_EQ(2U, cards.size());
  EXPECT_EQ(std::nullopt, cards[0].free_bytes);
  EXPECT_EQ(40 * mib, cards[0].whole_bytes) << "the highest peak of all: bars can be compared";
}

TEST(DeviceHeaps, views_of_the_same_bytes_are_named_and_counted_once) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, 10 * mib);
  trace.add_layer("driver", wire::Layer::physical);
  trace.region(0, 100 * mib);
  trace.alloc(0, 64 * mib);
  const auto devices = find_device_heaps(trace.trace());
  ASSERT_EQ(1U, devices.size());
  ASSERT_EQ(2U, devices[0].heaps.size());
  EXPECT_EQ("Pool", devices[0].heaps[0].layer);
  EXPECT_FALSE(devices[0].heaps[0].is_counted);
  EXPECT_EQ("Driver", devices[0].heaps[1].layer);
  EXPECT_EQ(64 * mib, total_of(devices[0], moment_of(trace.trace(), "end"))) << "one layer only";
  const auto layers = layers_of(trace.trace(), {0, 1});
  ASSERT_EQ(2U, layers.size());
  EXPECT_EQ(wire::Layer::physical, layers[0].layer);
  EXPECT_EQ((HeapKey{0, 2}), layers[0].heap);
  EXPECT_EQ((HeapKey{0, 1}), layers[1].heap);
}

TEST(DeviceHeaps, of_several_heaps_of_a_layer_the_shown_one_is_the_choice_else_the_largest) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, 10 * mib);
  for (const std::uint64_t size : {5, 20}) {
    trace.add_layer("driver", wire::Layer::physical);
    trace.region(0, 64 * mib);
    trace.alloc(0, size * mib);
  }
  EXPECT_EQ((HeapKey{0, 3}), layers_of(trace.trace(), {0, 1})[0].heap);
  EXPECT_EQ((HeapKey{0, 2}), layers_of(trace.trace(), {0, 2})[0].heap);
  EXPECT_EQ((HeapKey{0, 3}), layers_of(trace.trace(), {0, 3})[0].heap);
}

// One process with one block on the device with that UUID, which it calls its first.
void add_process(Trace& trace, std::string_view rank, std::string_view uuid, std::uint64_t bytes) {
  Stream& stream = trace.streams.emplace_back();
  wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); });
  if (!rank.empty()) writer.add_job_fact(wire::rank_fact, rank);
  wire::HeapRecord heap;
  heap.flags = wire::heap_flag::has_addresses;
  heap.device = 0;
  heap.uuid = uuid.empty() ? 0 : writer.define_string(uuid);
  wire::AllocRecord block;
  block.size = bytes;
  block.heap = writer.define_heap(heap, "GPU 0 memory", "device");
  writer.alloc(block, 1000);
  writer.flush();
}

TEST(DeviceHeaps, a_device_is_known_by_its_uuid_whatever_number_processes_give_it) {
  Trace trace;
  add_process(trace, "0", "GPU-00000001-aaaa", 10 * mib);
  add_process(trace, "1", "GPU-00000001-aaaa", 20 * mib);
  add_process(trace, "2", "MIG-00000002-aaaa", 5 * mib);
  const auto devices = find_device_heaps(trace);
  ASSERT_EQ(2U, devices.size());
  EXPECT_EQ("GPU 0 (GPU-00000001)", devices[0].name);
  EXPECT_EQ("GPU 0 (MIG-00000002)", devices[1].name);
  const auto cards = find_device_cards(devices, moment_of(trace, "end"));
  ASSERT_EQ(2U, cards.size());
  EXPECT_EQ(30 * mib, cards[0].in_use_bytes) << "both processes";
  EXPECT_EQ(5 * mib, cards[1].in_use_bytes);
}

TEST(DeviceHeaps, without_uuids_each_rank_has_a_device_as_before) {
  Trace trace;
  add_process(trace, "0", "", 10 * mib);
  add_process(trace, "1", "", 20 * mib);
  EXPECT_EQ(2U, find_device_heaps(trace).size());
}

}  // namespace
}  // namespace hbmscope::gui
