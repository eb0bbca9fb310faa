// RMM's log of events as a trace: what rmm::mr::logging_resource_adaptor writes, in Python rmm.enable_logging.
//
//   Thread,Time,Action,Pointer,Size,Stream
//   140202,11:04:51.310412,allocate,0x7f0a2c000000,1048576,0x0
//   140202,11:04:51.310977,allocate failure,(nil),68719476736,0x0
//   140202,11:04:51.311500,free,0x7f0a2c000000,1048576,0x0
//
// Source: RMM's cpp/src/mr/detail/logging_resource_adaptor_impl.cpp (before 2025 the header of that class), which sets
// the pattern "%t,%H:%M:%S.%f": local time of day with microseconds, without the date. Its user guide shows
// seconds since 1970 and "deallocate" instead, and both are read too; RMM's own benchmarks/utilities/log_parser.hpp
// knows "(nil)" as address 0. An allocation is logged when it has succeeded and a free before it happens, so that an
// address is never given out in a row above the one that frees it, whatever the threads do. Sizes are those of the
// call; what the pool rounds them to stands nowhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// By the line with the column names, whatever spaces, quotes or byte order mark are around it; the rest of the bytes
// may be missing.
bool looks_like_rmm(std::span<const std::uint8_t> bytes);

// Times are since the midnight before the first row, or since 1970. Errors: no such header, cancelled.
Result<Trace> read_rmm(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control = nullptr);

extern const Format rmm_format;

}  // namespace hbmscope
