// XLA's buffer-assignment.txt:
//
//   BufferAssignment:
//   allocation 1: size 16777216, page 0, parameter 1, shape |bf16[2,8,4096,128]| at ShapeIndex {}:
//    value: <108 a_1_.1 @0> (size=16777216,offset=0): bf16[2,8,4096,128]{3,2,1,0:T(8,128)(2,1)}
//   allocation 18: size 34340864, color 1, page 0, preallocated-temp:
//
// Source: BufferAllocation::ToString of xla/service/buffer_assignment.cc. Older versions have no page; the
// oldest have the address of XLA's object before the size. The color is omitted if it is 0. Sections that follow a blank
// line ("Total bytes used:", "Used values:") repeat what the allocations say, and have no times.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

bool looks_like_buffer_assignment(std::span<const std::uint8_t> bytes);

// Errors: no allocation in it; an allocation line without a size, with its byte.
Result<Program> read_buffer_assignment(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::hlo
