// The built libcuda.so.1, called as a program calls it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using Pointer = std::uint64_t;
using Handle = void*;

// Two small devices; set before the driver reads them, at its first call.
void* driver() {
  static void* library = [] {
    setenv("HBMSCOPE_DEVICE_COUNT", "2", 1);
    setenv("HBMSCOPE_DEVICE_BYTES", "1073741824", 1);
    setenv("HBMSCOPE_DEVICE_CONTEXT_BYTES", "104857600", 1);
    return dlopen(EMULATED "/lib/libcuda.so.1", RTLD_NOW);
  }();
  return library;
}

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver(), name));
  EXPECT_NE(function, nullptr) << name;
  return function == nullptr ? -1 : function(arguments...);
}

struct DriverTest : testing::Test {
  DriverTest() {
    Handle context = nullptr;
    EXPECT_EQ(call("cuInit", 0u), 0);
    EXPECT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), 0);
    EXPECT_EQ(call("cuCtxSetCurrent", context), 0);
  }
  ~DriverTest() override {
    call("cuCtxSetCurrent", Handle{nullptr});
    call("cuDevicePrimaryCtxRelease_v2", 0);
  }
  static std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(call("cuMemGetInfo_v2", &free, &total), 0);
    return free;
  }
};

TEST_F(DriverTest, memory_info_follows_every_request) {
  EXPECT_EQ(free_bytes(), (1024u - 100) << 20);
  Pointer block = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &block, std::size_t{500} << 20), 0);
  EXPECT_EQ(free_bytes(), (1024u - 600) << 20);
  Pointer refused = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &refused, std::size_t{500} << 20), 2);
  EXPECT_EQ(free_bytes(), (1024u - 600) << 20);
  EXPECT_EQ(call("cuMemFree_v2", block), 0);
  EXPECT_EQ(call("cuMemFree_v2", block), 1);
  EXPECT_EQ(free_bytes(), (1024u - 100) << 20);
}

TEST_F(DriverTest, a_launch_beyond_the_limits_of_a_device_is_refused) {
  const auto launch = [](unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                         unsigned block_z) {
    const Handle none{nullptr};
    return call("cuLaunchKernel", none, grid_x, grid_y, grid_z, block_x, block_y, block_z, 0U, none, none, none);
  };
  constexpr int invalid_value = 1;
  EXPECT_EQ(launch(2147483647, 65535, 65535, 32, 32, 1), 0);
  EXPECT_EQ(launch(1, 65536, 1, 32, 1, 1), invalid_value);
  EXPECT_EQ(launch(1, 1, 65536, 32, 1, 1), invalid_value);
  EXPECT_EQ(launch(2147483648, 1, 1, 32, 1, 1), invalid_value);
  EXPECT_EQ(launch(1, 1, 1, 32, 33, 1), invalid_value) << "threads of a block";
  EXPECT_EQ(launch(1, 1, 1, 1, 1, 65), invalid_value);
  EXPECT_EQ(launch(0, 1, 1, 1, 1, 1), invalid_value);
}

TEST_F(DriverTest, entry_points_depend_on_the_version) {
  void *old = nullptr, *modern = nullptr, *none = nullptr;
  int status = -1;
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuCtxCreate", &old, 3020, 0ull, &status), 0);
  EXPECT_EQ(old, dlsym(driver(), "cuCtxCreate_v2"));
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuCtxCreate", &modern, 13000, 0ull, &status), 0);
  EXPECT_EQ(modern, dlsym(driver(), "cuCtxCreate_v4"));
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuMemCreate", &none, 9000, 0ull, &status), 500);
  EXPECT_EQ(status, 2) << "it exists in a later version";
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuNothing", &none, 13000, 0ull, &status), 500);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuMemcpyAsync", &modern, 13000, 2ull, &status), 0);
  EXPECT_EQ(modern, dlsym(driver(), "cuMemcpyAsync_ptsz"));
}

TEST_F(DriverTest, what_was_copied_to_the_device_comes_back) {
  Pointer block = 0;
  ASSERT_EQ(call("cuMemAlloc_v2", &block, std::size_t{4} << 20), 0);
  const char text[] = "to the device and back";
  char back[sizeof(text)];
  EXPECT_EQ(call("cuMemcpyHtoD_v2", block, static_cast<const void*>(text), sizeof(text)), 0);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(back), block, sizeof(back)), 0);
  EXPECT_STREQ(back, text);
  EXPECT_EQ(call("cuMemsetD8_v2", block, static_cast<unsigned char>(0), sizeof(text)), 0);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(back), block, sizeof(back)), 0);
  EXPECT_STREQ(back, "");
  call("cuMemFree_v2", block);
}

TEST_F(DriverTest, a_framework_says_what_reads_get) {
  Pointer block = 0;
  ASSERT_EQ(call("cuMemAlloc_v2", &block, std::size_t{4} << 20), 0);
  auto* memory = reinterpret_cast<std::uint64_t*>(block);
  memory[0] = 11;
  std::uint64_t back = 0, more[2] = {};
  const auto read = [&](void* to, std::size_t bytes) { EXPECT_EQ(call("cuMemcpyDtoH_v2", to, block, bytes), 0); };
  read(&back, sizeof back);
  EXPECT_EQ(0U, back) << "nobody copied it there";
  auto* values = reinterpret_cast<void (*)(int, unsigned long long)>(dlsym(driver(), "hbmscope_device_values"));
  ASSERT_NE(nullptr, values);
  values(1, 0);
  read(&back, sizeof back);
  EXPECT_EQ(11U, back) << "what lies there";
  values(2 | 4, 42);
  std::uint32_t small = 0;
  read(&small, sizeof small);
  EXPECT_EQ(42U, small) << "a count";
  read(more, sizeof more);
  EXPECT_EQ(0U, more[0]) << "too large for one";
  values(0, 0);
  read(&back, sizeof back);
  EXPECT_EQ(0U, back);
  call("cuMemFree_v2", block);
}

TEST_F(DriverTest, a_pool_keeps_memory_until_a_stream_is_synchronised) {
  Pointer block = 0;
  EXPECT_EQ(call("cuMemAllocAsync", &block, std::size_t{1} << 20, Handle{nullptr}), 0);
  EXPECT_EQ(call("cuMemFreeAsync", block, Handle{nullptr}), 0);
  EXPECT_EQ(free_bytes(), (1024u - 132) << 20);
  EXPECT_EQ(call("cuStreamSynchronize", Handle{nullptr}), 0);
  EXPECT_EQ(free_bytes(), (1024u - 100) << 20);
}

TEST_F(DriverTest, shared_physical_memory_counts_once) {
  const int properties[10] = {1, 1, 1, 0};  // Pinned, on device 0.
  std::uint64_t handle = 0, imported = 0;
  int file = -1;
  const std::size_t before = free_bytes();
  ASSERT_EQ(call("cuMemCreate", &handle, std::size_t{8} << 20, static_cast<const void*>(properties), 0ull), 0);
  EXPECT_EQ(call("cuMemExportToShareableHandle", static_cast<void*>(&file), handle, 1, 0ull), 0);
  EXPECT_EQ(call("cuMemImportFromShareableHandle", &imported, reinterpret_cast<void*>(std::intptr_t{file}), 1), 0);
  EXPECT_EQ(before - free_bytes(), std::size_t{8} << 20);
  EXPECT_EQ(call("cuMemRelease", handle), 0);
  EXPECT_EQ(call("cuMemRelease", imported), 0);
  EXPECT_EQ(free_bytes(), before);
  close(file);
}

TEST_F(DriverTest, a_reset_frees_what_the_context_allocated) {
  Pointer block = 0;
  const std::size_t before = free_bytes();
  ASSERT_EQ(call("cuMemAlloc_v2", &block, std::size_t{8} << 20), 0);
  EXPECT_EQ(call("cuDevicePrimaryCtxReset_v2", 0), 0);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(call("cuMemFree_v2", block), 1);
}

TEST_F(DriverTest, conditional_nodes_return_graphs_that_can_be_filled) {
  struct Parameters {  // CUgraphNodeParams
    int type = 13, reserved[3] = {};
    std::uint64_t handle = 0;
    int conditional_type = 0;
    unsigned count = 2;
    Handle* graphs = nullptr;
    Handle context = nullptr;
    long long others[26] = {};
  } parameters;
  Handle graph = nullptr, node = nullptr, inner = nullptr;
  EXPECT_EQ(call("cuGraphCreate", &graph, 0u), 0);
  EXPECT_EQ(call("cuGraphAddNode_v2", &node, graph, static_cast<const Handle*>(nullptr),
                 static_cast<const void*>(nullptr), std::size_t{0}, &parameters),
            0);
  ASSERT_NE(parameters.graphs, nullptr);
  EXPECT_NE(parameters.graphs[0], parameters.graphs[1]);
  EXPECT_EQ(
      call("cuGraphAddEmptyNode", &inner, parameters.graphs[1], static_cast<const Handle*>(nullptr), std::size_t{0}),
      0);
  std::size_t count = 0;
  EXPECT_EQ(call("cuGraphGetNodes", graph, static_cast<Handle*>(nullptr), &count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(call("cuGraphDestroy", graph), 0);
}

TEST_F(DriverTest, arrays_take_memory_and_are_no_addresses) {
  struct Description {  // CUDA_ARRAY_DESCRIPTOR
    std::size_t width = 1024, height = 1024;
    int format = 0x20;  // Float.
    unsigned channels = 2;
  } description;
  Handle array = nullptr;
  const std::size_t before = free_bytes();
  ASSERT_EQ(call("cuArrayCreate_v2", &array, &description), 0);
  EXPECT_EQ(before - free_bytes(), std::size_t{8} << 20);
  EXPECT_EQ(call("cuMemFree_v2", reinterpret_cast<Pointer>(array)), 1);
  EXPECT_EQ(call("cuArrayDestroy", array), 0);
  EXPECT_EQ(call("cuArrayDestroy", array), 400);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(DriverTest, the_legacy_stream_can_not_be_queried_while_a_blocking_stream_is_captured) {
  Handle blocking = nullptr, other = nullptr, graph = nullptr;
  int status = 0;
  ASSERT_EQ(call("cuStreamCreate", &blocking, 0u), 0);
  ASSERT_EQ(call("cuStreamCreate", &other, 1u), 0);
  EXPECT_EQ(call("cuStreamBeginCapture_v2", other, 0), 0);
  EXPECT_EQ(call("cuStreamIsCapturing", Handle{nullptr}, &status), 0);
  EXPECT_EQ(call("cuStreamBeginCapture_v2", blocking, 0), 0);
  EXPECT_EQ(call("cuStreamIsCapturing", Handle{nullptr}, &status), 906);
  for (const Handle stream : {blocking, other}) {
    EXPECT_EQ(call("cuStreamEndCapture", stream, &graph), 0);
    EXPECT_EQ(call("cuStreamDestroy_v2", stream), 0);
  }
  EXPECT_EQ(call("cuStreamIsCapturing", Handle{nullptr}, &status), 0);
}

TEST_F(DriverTest, memory_of_another_api_counts_for_nobody_here) {
  struct Description {  // CUDA_EXTERNAL_MEMORY_HANDLE_DESC
    int type = 1, reserved = 0;
    void* handle[2] = {};
    unsigned long long bytes = 8ull << 20;
    unsigned others[17] = {};
  } description;
  struct Buffer {  // CUDA_EXTERNAL_MEMORY_BUFFER_DESC
    unsigned long long offset = 4096, bytes = 4ull << 20;
    unsigned others[17] = {};
  } buffer;
  Handle memory = nullptr;
  Pointer address = 0;
  const std::size_t before = free_bytes();
  ASSERT_EQ(call("cuImportExternalMemory", &memory, &description), 0);
  EXPECT_EQ(call("cuExternalMemoryGetMappedBuffer", &address, memory, &buffer), 0);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(call("cuMemFree_v2", address), 0);
  buffer.bytes = 8ull << 20;
  EXPECT_EQ(call("cuExternalMemoryGetMappedBuffer", &address, memory, &buffer), 1);
  EXPECT_EQ(call("cuDestroyExternalMemory", memory), 0);
}

TEST_F(DriverTest, unknown_functions_say_that_they_are_not_supported) {
  EXPECT_EQ(call("cuTexRefCreate", static_cast<Handle*>(nullptr)), 801);
}

}  // namespace
