// Where a program on an emulated device read a value that was not computed, and whether the value decides a size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/trace/stream.h"

namespace hbmscope {

struct ReadPlace {
  bool decides_size =
      false;         // Certainly the size of an array: torch.nonzero. Otherwise the program may only print the value.
  std::string what;  // The operation: "nonzero", "item". Empty if unknown.
  std::string line;  // In your code: "route moe.py:41". Empty if unknown.

  friend bool operator==(const ReadPlace&, const ReadPlace&) = default;
};

// By the number that the collector gave the place in its process (wire::value_read_mark). Nothing if it has no marker.
std::optional<ReadPlace> find_read_place(const Stream& stream, std::uint32_t place);

// Whether any stack is one of PyTorch's backward passes.
bool has_autograd_frames(const Definitions& definitions);

}  // namespace hbmscope
