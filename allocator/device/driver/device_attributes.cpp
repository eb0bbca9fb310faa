#include "allocator/device/driver/device_attributes.h"

#include "allocator/device/model/settings.h"

namespace hbmscope::device::driver {
namespace {

struct Limits {
  int compute;  // 10 x major + minor; a row also holds for the capabilities up to the next row.
  int threads_per_sm, blocks_per_sm, shared_bytes_per_sm, shared_bytes_per_block_max;
};
constexpr Limits limits[] = {
    {70, 2048, 32, 98304, 98304},   {75, 1024, 16, 65536, 65536},    {80, 2048, 32, 167936, 166912},
    {86, 1536, 16, 102400, 101376}, {87, 1536, 16, 167936, 166912},  {89, 1536, 24, 102400, 101376},
    {90, 2048, 32, 233472, 232448}, {120, 1536, 24, 102400, 101376},
};

const Limits& limits_of_device() {
  const int compute = settings().compute_major * 10 + settings().compute_minor;
  const Limits* best = &limits[0];
  for (const Limits& row : limits)
    if (row.compute <= compute) best = &row;
  return *best;
}

}  // namespace

int value_of_attribute(int attribute, int physical_ordinal) {
  const Limits& device = limits_of_device();
  const bool is_hopper_or_later = settings().compute_major >= 9;
  switch (attribute) {
    case 1: return 1024;  // MAX_THREADS_PER_BLOCK
    case 2:
    case 3: return 1024;        // MAX_BLOCK_DIM_X, _Y
    case 4: return 64;          // MAX_BLOCK_DIM_Z
    case 5: return 2147483647;  // MAX_GRID_DIM_X
    case 6:
    case 7: return 65535;        // MAX_GRID_DIM_Y, _Z
    case 8: return 49152;        // MAX_SHARED_MEMORY_PER_BLOCK
    case 9: return 65536;        // TOTAL_CONSTANT_MEMORY
    case 10: return 32;          // WARP_SIZE
    case 11: return 2147483647;  // MAX_PITCH
    case 12:
    case 82: return 65536;                                      // MAX_REGISTERS_PER_BLOCK, _PER_MULTIPROCESSOR
    case 13: return 1'980'000;                                  // CLOCK_RATE, kHz
    case 14: return 512;                                        // TEXTURE_ALIGNMENT
    case 16: return settings().multiprocessors;                 // MULTIPROCESSOR_COUNT
    case 33: return first_pci_bus + physical_ordinal;           // PCI_BUS_ID
    case 36: return 2'619'000;                                  // MEMORY_CLOCK_RATE, kHz
    case 37: return 5120;                                       // GLOBAL_MEMORY_BUS_WIDTH, bits
    case 38: return 52'428'800;                                 // L2_CACHE_SIZE
    case 39: return device.threads_per_sm;                      // MAX_THREADS_PER_MULTIPROCESSOR
    case 40: return 3;                                          // ASYNC_ENGINE_COUNT
    case 51: return 32;                                         // TEXTURE_PITCH_ALIGNMENT
    case 75: return settings().compute_major;                   // COMPUTE_CAPABILITY_MAJOR
    case 76: return settings().compute_minor;                   // COMPUTE_CAPABILITY_MINOR
    case 81: return device.shared_bytes_per_sm;                 // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    case 87: return 2;                                          // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    case 97: return device.shared_bytes_per_block_max;          // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    case 106: return device.blocks_per_sm;                      // MAX_BLOCKS_PER_MULTIPROCESSOR
    case 111: return settings().compute_major >= 8 ? 1024 : 0;  // RESERVED_SHARED_MEMORY_PER_BLOCK
    case 119: return 1;                                         // MEMPOOL_SUPPORTED_HANDLE_TYPES: file descriptors
    case 120:
    case 127: return is_hopper_or_later;  // CLUSTER_LAUNCH, TENSOR_MAP_ACCESS_SUPPORTED
    case 15:
    case 19:
    case 31:
    case 32:
    case 41:
    case 78:  // GPU_OVERLAP, CAN_MAP_HOST_MEMORY, CONCURRENT_KERNELS,
              // ECC_ENABLED, UNIFIED_ADDRESSING, STREAM_PRIORITIES
    case 79:
    case 80:
    case 83:
    case 89:
    case 90:
    case 91:  // caches, MANAGED_MEMORY, CONCURRENT_MANAGED_ACCESS,
              // COMPUTE_PREEMPTION, host pointers for registered memory
    case 95:
    case 99:
    case 102:
    case 103:
    case 115:  // COOPERATIVE_LAUNCH, HOST_REGISTER, virtual memory, its
               // export as file descriptors, MEMORY_POOLS
    case 122:
    case 123:  // 64-bit stream memory operations, WAIT_VALUE_NOR
      return 1;
    default: return 0;
  }
}

}  // namespace hbmscope::device::driver
