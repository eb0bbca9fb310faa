// The table "Peak buffers:" of XLA, which lists the largest buffers of a program at its peak
// (xla/service/buffer_assignment.cc).
#pragma once

#include <string_view>
#include <vector>

#include "analysis/read/tpu_oom/tpu_report.h"

namespace hbmscope::log {

// Adds what the line says to the last buffer; "Buffer 3:" begins one. False: the line is not of the table.
bool read_peak_buffer(std::string_view line, std::vector<tpu_oom::Allocation>& buffers);

}  // namespace hbmscope::log
