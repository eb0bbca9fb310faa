// Who wrote a line of a log that several processes write to: torchrun, Ray, Slurm, MPI, Docker and Kubernetes put a
// name or number before each line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hbmscope::log {

struct Speaker {
  std::string_view name;              // As in the text; empty: the line has no such prefix.
  std::optional<std::uint32_t> rank;  // If the prefix is a rank's number.
  std::size_t begin = 0;              // Where the line's own text begins, also after a time stamp.
};
Speaker find_speaker(std::string_view line);

}  // namespace hbmscope::log
