// Blocks of cuMemAlloc: what they take, and what is refused.
#include <gtest/gtest.h>

#include "allocator/emulated/cuda/model/graph.h"
#include "allocator/emulated/cuda/model/machine.h"
#include "tests/sizes.h"

namespace hbmscope::device {
namespace {

Settings settings_of(Bytes total_bytes, Bytes context_bytes = 0, int devices = 1) {
  Settings settings;
  settings.total_bytes = total_bytes;
  settings.context_bytes = context_bytes;
  settings.device_count = devices;
  settings.visible_devices.clear();
  for (int i = 0; i < devices; ++i) settings.visible_devices.push_back(i);
  return settings;
}

TEST(Device, a_context_takes_memory_until_it_is_closed) {
  Machine machine(settings_of(1000 * mib, 500 * mib));
  ASSERT_EQ(machine.device(0).open_context(), Outcome::ok);
  EXPECT_EQ(machine.device(0).ledger().free_bytes(), 500 * mib);
  ASSERT_EQ(machine.device(0).open_context(), Outcome::ok);
  EXPECT_EQ(machine.device(0).open_context(), Outcome::out_of_memory);
  EXPECT_EQ(machine.device(0).ledger().free_bytes(), 0u);
  machine.device(0).close_context();
  machine.device(0).close_context();
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 0u);
}

TEST(Device, large_requests_are_rounded_up_to_2_mib) {
  Machine machine(settings_of(100 * mib));
  const Answer answer = machine.allocate(0, 5 * mib);
  ASSERT_EQ(answer.outcome, Outcome::ok);
  EXPECT_EQ(answer.address % granularity_bytes, 0u);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 6 * mib);
  EXPECT_EQ(machine.free(answer.address), Outcome::ok);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 0u);
}

TEST(Device, small_requests_share_a_page) {
  Machine machine(settings_of(100 * mib));
  const Answer first = machine.allocate(0, 1), second = machine.allocate(0, 4096);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 2 * mib);
  EXPECT_EQ(second.address, first.address + 512);
  machine.free(first.address);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 2 * mib);
  EXPECT_EQ(machine.allocate(0, 100).address, first.address);
  machine.free(first.address);
  machine.free(second.address);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 0u);
}

TEST(Device, the_account_is_exact_with_a_granularity_of_one_byte) {
  Settings settings = settings_of(1000);
  settings.granularity = 1;
  Machine machine(settings);
  const Answer first = machine.allocate(0, 999), second = machine.allocate(0, 1);
  EXPECT_EQ(second.outcome, Outcome::ok);
  EXPECT_EQ(machine.device(0).ledger().free_bytes(), 0u);
  EXPECT_EQ(machine.allocate(0, 1).outcome, Outcome::out_of_memory);
  machine.free(first.address);
  EXPECT_EQ(machine.device(0).ledger().free_bytes(), 999u);
  const Answer pooled = machine.allocate_from_pool(machine.default_pool(0), 500);
  EXPECT_EQ(pooled.outcome, Outcome::ok);
}

TEST(Device, an_address_that_was_freed_comes_back) {
  Machine machine(settings_of(100 * mib));
  const Answer first = machine.allocate(0, 4 * mib);
  machine.allocate(0, 4 * mib);
  machine.free(first.address);
  EXPECT_EQ(machine.allocate(0, 2 * mib).address, first.address);
  EXPECT_EQ(machine.allocate(0, 2 * mib).address, first.address + 2 * mib);
}

TEST(Device, graphs_share_memory_until_it_is_trimmed) {
  Machine machine(settings_of(10 * mib));
  Ledger& ledger = machine.device(0).ledger();
  GraphMemory& memory = machine.graph_memory(0);
  const int small = 0, large = 0, too_large = 0;
  EXPECT_EQ(memory.hold(ledger, &small, 2 * mib), Outcome::ok);
  EXPECT_EQ(memory.hold(ledger, &large, 6 * mib), Outcome::ok);
  EXPECT_EQ(memory.hold(ledger, &too_large, 12 * mib), Outcome::out_of_memory);
  EXPECT_EQ(ledger.taken_bytes(), 6 * mib);
  memory.forget(&large);
  EXPECT_EQ(memory.reserved(), 6 * mib);
  memory.trim(ledger);
  EXPECT_EQ(memory.reserved(), 2 * mib);
  EXPECT_EQ(ledger.taken_bytes(), 2 * mib);
}

TEST(Device, a_graph_needs_the_peak_of_its_nodes) {
  constexpr int alloc = 10, free = 11;
  Graph graph;
  const auto add = [&](int type, Bytes bytes, Address address) {
    GraphNode* node = graph.add(type, {});
    node->bytes = bytes;
    node->address = address;
  };
  add(alloc, 3 * mib, 1);
  add(free, 0, 1);
  add(alloc, 2 * mib, 2);
  add(alloc, 2 * mib, 3);
  EXPECT_EQ(graph.peak_by_device().at(0), 4 * mib);
  EXPECT_EQ(graph.clone()->peak_by_device().at(0), 4 * mib);
}

TEST(Device, a_refusal_changes_nothing) {
  Machine machine(settings_of(10 * mib));
  ASSERT_EQ(machine.allocate(0, 8 * mib).outcome, Outcome::ok);
  EXPECT_EQ(machine.allocate(0, 3 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(machine.allocate(0, ~Bytes{0}).outcome, Outcome::out_of_memory);
  EXPECT_EQ(machine.allocate(0, 0).outcome, Outcome::invalid);
  EXPECT_EQ(machine.device(0).ledger().free_bytes(), 2 * mib);
  EXPECT_EQ(machine.allocate(0, 2 * mib).outcome, Outcome::ok);
}

TEST(Device, host_and_managed_memory_take_nothing) {
  Machine machine(settings_of(10 * mib));
  const Answer host = machine.allocate_host(0, 100 * mib, Kind::host);
  const Answer managed = machine.allocate_host(0, 100 * mib, Kind::managed);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 0u);
  EXPECT_EQ(machine.find(managed.address + 5)->kind, Kind::managed);
  EXPECT_EQ(machine.free(host.address), Outcome::ok);
  EXPECT_EQ(machine.free(managed.address), Outcome::ok);
  EXPECT_EQ(machine.free(managed.address), Outcome::invalid);
}

TEST(Device, devices_have_accounts_of_their_own) {
  Machine machine(settings_of(10 * mib, 0, 2));
  const Answer answer = machine.allocate(1, 4 * mib);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 0u);
  EXPECT_EQ(machine.device(1).ledger().taken_bytes(), 4 * mib);
  EXPECT_EQ(machine.find(answer.address + 4 * mib - 1)->device, 1);
  EXPECT_FALSE(machine.find(answer.address + 4 * mib));
}

TEST(Device, memory_ends_with_its_context) {
  Machine machine(settings_of(100 * mib));
  const Answer first = machine.allocate(0, 4 * mib, 1), second = machine.allocate(0, 1000, 2);
  machine.allocate_host(0, 4 * mib, Kind::host, 1);
  machine.allocate_from_pool(machine.default_pool(0), 1000);
  machine.free_all_of(1);
  EXPECT_FALSE(machine.find(first.address));
  EXPECT_TRUE(machine.find(second.address));
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 34 * mib) << "a page and a pool stay";
}

TEST(Device, imported_memory_counts_for_its_owner_alone) {
  Machine machine(settings_of(10 * mib));
  const Answer answer = machine.open_import(0, 100 * mib);
  ASSERT_EQ(answer.outcome, Outcome::ok);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 0u);
  EXPECT_EQ(machine.free(answer.address), Outcome::ok);
}

}  // namespace
}  // namespace hbmscope::device
