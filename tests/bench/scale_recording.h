// A training run at the size that the window has to bear: a million live blocks and ten million events. Parameters that
// stay, activations that come and go with each step, small pieces of all ages between them, a line of code that leaks,
// and a request in the end that finds enough free bytes and no piece that is large enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::bench {

struct ScaleShape {
  std::uint64_t events = 10'000'000;
  std::uint64_t live_most = 1'000'000;  // Blocks at once; reached after a third of the events.
};

// The same bytes for the same shape. Returns nothing, or why the file can't be written.
std::optional<std::string> write_scale_recording(const std::string& path, const ScaleShape& shape);

}  // namespace hbmscope::bench
