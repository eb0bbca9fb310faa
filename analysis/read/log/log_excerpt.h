// The text of a log around one line. Logs can be large and compressed, so that only what comes before is gone through,
// and only the lines around are kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::log {

struct LogExcerpt {
  struct Line {
    std::uint64_t number = 0;  // In the file, from 1. The lines within a JSON string all have that of their line.
    std::string text;          // Without colours.
  };
  std::string file;
  std::uint64_t focus = 0;  // The number of the line that was wanted.
  std::vector<Line> lines;
  bool ends_before_file = false;  // More lines follow.
};

// Up to `around` lines before and after `line`. Of a very long line only the beginning is there. Errors: those of
// opening and unpacking; cancelled; the file has fewer lines.
Result<LogExcerpt> read_log_excerpt(const std::string& file, std::uint64_t line, std::uint64_t around,
                                    const std::atomic<bool>& cancelled);

}  // namespace hbmscope::log
