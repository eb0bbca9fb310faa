#include "allocator/emulated/tpu/runtime_text.h"

#include <fmt/format.h>

namespace hbmscope::allocator::tpu {

std::string printed_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
  const auto of = [&](std::uint64_t unit) { return static_cast<double>(bytes) / static_cast<double>(unit); };
  if (bytes >= gib) return fmt::format("{:.2f}G", of(gib));
  if (bytes >= mib) return fmt::format("{:.2f}M", of(mib));
  if (bytes >= kib) return fmt::format("{:.1f}K", of(kib));
  return fmt::format("{}B", bytes);
}

std::string no_room_for_buffer_text(std::uint32_t device, std::uint64_t bytes, const HbmMemory& memory) {
  const bool is_fragmented = memory.free_bytes() >= bytes;
  return fmt::format(
      "Error allocating device buffer: Attempting to allocate {}. That was not possible. There are {} free.{}; "
      "(0x0x{}_HBM0)",
      printed_bytes(bytes), printed_bytes(memory.free_bytes()),
      is_fragmented ? fmt::format(" Due to fragmentation, the largest contiguous region of free memory is {}.",
                                  printed_bytes(memory.largest_free_bytes()))
                    : std::string(),
      device);
}

std::string no_room_for_program_text(std::string_view program, std::uint64_t bytes, const HbmMemory& memory) {
  return fmt::format(
      "Error loading program '{}': Attempting to reserve {} at the bottom of memory. That was not possible. There are "
      "{} free, {} reserved, and {} reservable.",
      program, printed_bytes(bytes), printed_bytes(memory.free_bytes()), printed_bytes(memory.reserved_bytes()),
      printed_bytes(memory.reservable_bytes() - memory.reserved_bytes()));
}

}  // namespace hbmscope::allocator::tpu
