// HloProto, or a BufferAssignmentProto alone: xla/service/hlo.proto and xla/xla_data.proto of openxla. Only what says
// of memory is read; everything else is skipped.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

// By the first 64 bytes: a module begins with its name, a buffer with its place.
bool looks_like_hlo_proto(std::span<const std::uint8_t> bytes);

// Errors: no message, or one without a buffer assignment.
Result<Program> read_hlo_proto(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::hlo
