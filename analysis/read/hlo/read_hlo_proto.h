// Reads an HloProto, or a BufferAssignmentProto on its own: xla/service/hlo.proto and xla/xla_data.proto of openxla.
// Only fields about memory are read; all others are skipped.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

// Decides by the first 64 bytes: a module begins with its name, a buffer with its position.
bool looks_like_hlo_proto(std::span<const std::uint8_t> bytes);

// Errors: not a message, or one without a buffer assignment.
Result<Program> read_hlo_proto(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::hlo
