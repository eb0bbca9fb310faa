// A training run at the size that the window must handle: a million live blocks and ten million events. Parameters that
// stay, activations that come and go with each step, small blocks of all ages between them, a leaking line of code, and
// at the end a request for which enough bytes are free but no free block is large enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::bench {

struct ScaleShape {
  std::uint64_t events = 10'000'000;
  std::uint64_t live_most = 1'000'000;  // Simultaneously live blocks; reached after a third of the events.
};

// The same shape gives the same bytes. Returns no value, or why the file can't be written.
std::optional<std::string> write_scale_recording(const std::string& path, const ScaleShape& shape);

}  // namespace hbmscope::bench
