// Reads RMM's event log as a trace: the output of rmm::mr::logging_resource_adaptor, or rmm.enable_logging in Python.
//
//   Thread,Time,Action,Pointer,Size,Stream
//   140202,11:04:51.310412,allocate,0x7f0a2c000000,1048576,0x0
//   140202,11:04:51.310977,allocate failure,(nil),68719476736,0x0
//   140202,11:04:51.311500,free,0x7f0a2c000000,1048576,0x0
//
// Source: RMM's cpp/src/mr/detail/logging_resource_adaptor_impl.cpp (before 2025 the header of that class), which sets
// the pattern "%t,%H:%M:%S.%f": local time of day with microseconds, without the date. Its user guide shows seconds
// since 1970 and "deallocate" instead; both are read too. RMM's own benchmarks/utilities/log_parser.hpp treats "(nil)"
// as address 0. An allocation is logged after it succeeds and a free before it happens, so an address is never
// allocated in a row above the one that frees it, whatever the threads do. Sizes are those of the call; the sizes to
// which the pool rounds them are not logged. Logs without the line of column names are read too: Spark's RAPIDS plugin
// writes rows to the executor's output, and logs are cut.
//
// RMM's debug log, which has failures and, in some builds, blocks and requests, is described in debug_line.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Decides by the line with the column names, despite spaces, quotes or a byte order mark around it, or by a row or a
// line of the debug log among the first three lines; the rest of the bytes may be missing.
bool looks_like_rmm(std::span<const std::uint8_t> bytes);

// Times count from the midnight before the first row, or from 1970. Errors: neither log, cancelled.
Result<Trace> read_rmm(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control = nullptr);

extern const Format rmm_format;

}  // namespace hbmscope
