// What stands around the text of a line: who wrote it, and what a window, a mail or a page put around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbmscope::log {

// Who wrote a line of a log that several processes write to: torchrun, Ray, Slurm, MPI, Docker and Kubernetes put a
// name or number before each line.
struct Speaker {
  std::string_view name;              // As in the text; empty: the line has no such prefix.
  std::optional<std::uint32_t> rank;  // If the prefix is a rank's number.
  std::size_t begin = 0;              // Where the line's own text begins, also after a time stamp.
};
Speaker find_speaker(std::string_view line);

// A line that begins with a date or a time, or as JSON does, doesn't continue the one before it.
bool is_entry(std::string_view line);
// Without the box that rich draws around a text, the mark of a quoted line, and what HTML writes for a few characters:
// a part of the line, or of `kept` where characters had to be replaced.
std::string_view without_frame(std::string_view line, std::string& kept);

}  // namespace hbmscope::log
