// Which array a block holds, as the framework says ("f32[8192,4096] output 3 of jit_train_step"): the attribute "array"
// of its allocation. One pass over all attributes, for lists of blocks.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

class ArrayNames {
 public:
  // The trace must outlive it.
  explicit ArrayNames(const Trace& trace);

  // Empty: unknown. `allocation` is the number of its event in the stream.
  std::string_view find(std::size_t stream, std::uint64_t allocation) const;

 private:
  const Trace& trace_;
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> names_;  // By stream: strings by allocation.
};

}  // namespace hbmscope
