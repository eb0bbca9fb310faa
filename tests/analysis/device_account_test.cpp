#include "analysis/query/device_account.h"

#include <gtest/gtest.h>

#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

class Accounts : public testing::Test {
 protected:
  std::uint32_t define_heap(std::string_view name, wire::Layer layer, std::uint32_t flags) {
    wire::HeapRecord heap;
    heap.device = 0;
    heap.layer = static_cast<std::uint8_t>(layer);
    heap.flags = flags;
    return writer.define_heap(heap, name, "device");
  }
  // Innermost first.
  std::uint32_t stack_of(std::initializer_list<std::string_view> files) {
    std::uint32_t stack = 0;
    for (auto file = std::rbegin(files); file != std::rend(files); ++file)
      stack = writer.define_stack(stack, writer.define_frame("f", *file, 0));
    return stack;
  }
  void take(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack = 0) {
    wire::AllocRecord record;
    record.address = address;
    record.size = record.requested = size;
    record.heap = heap;
    record.stack = stack;
    writer.add(record, 1000);
  }
  void create(std::uint32_t heap, std::uint64_t handle, std::uint64_t size, std::uint32_t stack = 0) {
    wire::PhysicalCreateRecord record;
    record.handle = handle;
    record.size = size;
    record.heap = heap;
    record.stack = stack;
    writer.add(record, 1000);
  }
  void grow(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    wire::RegionGrowRecord record;
    record.address = address;
    record.size = size;
    record.heap = heap;
    writer.add(record, 1000);
  }
  void report(std::string_view name, std::int64_t value, std::uint32_t heap = 0) {
    wire::CounterRecord figure;
    figure.name = writer.define_string(name);
    figure.heap = heap;
    figure.value = value;
    writer.add(figure, 1000);
  }
  DeviceAccount account() {
    writer.flush();
    std::vector<StreamState> states;
    states.push_back(stream.state_at(stream.end_position()));
    const auto accounts = find_device_accounts(trace, states);
    EXPECT_EQ(1U, accounts.size());
    return accounts.empty() ? DeviceAccount{} : accounts[0];
  }
  static std::string text_of(const DeviceAccount& account) {
    std::string text;
    for (const OwnerBytes& owner : account.owners)
      text += owner.owner + "=" + std::to_string(owner.bytes) + "/" + std::to_string(owner.blocks) + " ";
    return text;
  }

  Trace trace;
  Stream& stream = trace.streams.emplace_back();
  wire::StreamWriter writer{0,
                            [this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); }};
  std::uint32_t driver = define_heap("GPU 0 memory", wire::Layer::physical, wire::heap_flag::has_addresses);
};

TEST_F(Accounts, blocks_belong_to_the_library_that_called_the_driver) {
  take(driver, 1000, 1, stack_of({"/lib/libcudart.so.12", "/x/libcublas.so.12", "/x/libtorch_cuda.so", "train.py"}));
  take(driver, 2000, 2, stack_of({"/x/libcublasLt.so.13"}));
  take(driver, 3000, 4, stack_of({"/x/libnccl.so.2", "train.py"}));
  take(driver, 4000, 8, stack_of({"/lib/libffi.so.8", "/lib/_ctypes.cpython-311.so", "train.py"}));
  take(driver, 5000, 16, stack_of({"/x/libmine.so.3", "/x/libnccl.so.2"}));
  take(driver, 6000, 32);
  take(driver, 7000, 64, stack_of({"/bin/trainer"}));
  EXPECT_EQ("the program itself=72/2 (no stack was recorded)=32/1 libmine.so.3=16/1 NCCL=4/1 cuBLASLt=2/1 cuBLAS=1/1 ",
            text_of(account()));
  EXPECT_EQ(127U, account().outside_pools_bytes());
  EXPECT_EQ(0U, account().pools_bytes);
}

TEST_F(Accounts, what_a_pool_has_is_the_pools) {
  const std::uint32_t pool =
      define_heap("GPU_0_bfc", wire::Layer::pool,
                  wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::is_inside_of_driver);
  take(driver, 1000, 100, stack_of({"/x/xla_cuda_plugin.so"}));
  take(driver, 5000, 10, stack_of({"/x/libcudnn_ops.so.9"}));
  grow(pool, 1000, 100);
  take(pool, 1010, 20);
  const DeviceAccount found = account();
  EXPECT_EQ(100U, found.pools_bytes);
  EXPECT_EQ("cuDNN=10/1 ", text_of(found));
}

TEST_F(Accounts, of_mapped_memory_what_no_pool_has_is_named_as_far_as_it_is_known) {
  create(driver, 1, 40, stack_of({"/x/libnvshmem_host.so.3"}));
  EXPECT_EQ("NVSHMEM=40/1 ", text_of(account()));
  const std::uint32_t pool =
      define_heap("GPU_0_bfc", wire::Layer::pool,
                  wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::is_inside_of_driver);
  create(driver, 2, 100);
  grow(pool, 1000, 100);
  EXPECT_EQ(100U, account().pools_bytes);
  EXPECT_EQ("mapped memory (cuMemCreate)=40/1 ", text_of(account()));
}

TEST_F(Accounts, what_the_device_reports_beyond_is_not_explained) {
  take(driver, 1000, 100);
  report("GPU 1 bytes held by this process (NVML)", 999);
  EXPECT_FALSE(account().reported_bytes);
  report("memory pool 1 reserved bytes", 60, driver);
  report("memory pool 1 used bytes", 20, driver);
  report("GPU 0 bytes held by this process (NVML)", 500);
  report("GPU 0 bytes in use by all processes (NVML)", 800);
  take(driver, 2000, 1000);  // After the report: it explains nothing of it.
  DeviceAccount found = account();
  EXPECT_EQ(40U, found.kept_bytes);
  EXPECT_EQ(500U, found.reported_bytes);
  EXPECT_EQ(800U, found.all_processes_bytes);
  EXPECT_EQ(360U, found.unexplained_bytes);
  report("GPU 0 bytes held by this process (NVML)", 900);
  EXPECT_FALSE(account().unexplained_bytes) << "the report is older than the block";
}

TEST_F(Accounts, after_an_attach_nothing_is_called_unexplained_and_handles_belong_to_those_who_made_them) {
  writer.add_job_fact("hbmscope.attached", "2026-11-26");
  const std::uint32_t pool =
      define_heap("GPU_0_bfc", wire::Layer::pool,
                  wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::is_inside_of_driver);
  grow(pool, 1000, 1000);
  create(driver, 1, 40, stack_of({"/x/libnccl.so.2"}));
  create(driver, 2, 50, stack_of({"/x/xla_cuda_plugin.so"}));
  report("GPU 0 bytes held by this process (NVML)", 5000);
  const DeviceAccount found = account();
  EXPECT_EQ("NCCL=40/1 ", text_of(found));
  EXPECT_EQ(50U, found.pools_bytes);
  EXPECT_EQ(5000U, found.reported_bytes);
  EXPECT_FALSE(found.unexplained_bytes);
}

}  // namespace
}  // namespace hbmscope
