// What the TPU runtime says when there is no room, in its own words where a report of it is known
// (openxla.org/xla/errors/error_0100), and sizes as it prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "allocator/emulated/tpu/hbm_memory.h"

namespace hbmscope::allocator::tpu {

// "15.75G", "372.0K", "512B": 15.75 x 2^30 bytes.
std::string printed_bytes(std::uint64_t bytes);

// For a buffer of `bytes` on a device.
std::string no_room_for_buffer_text(std::uint32_t device, std::uint64_t bytes, const HbmMemory& memory);
// For the temporaries and the code of a program ("jit_train_step").
std::string no_room_for_program_text(std::string_view program, std::uint64_t bytes, const HbmMemory& memory);

}  // namespace hbmscope::allocator::tpu
