// The bytes of the shapes of a text. A shape occurs many times in a module, so each text is parsed once.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "analysis/read/hlo/hlo_text.h"

namespace hbmscope::hlo {

struct ShapeSize {
  std::uint64_t bytes = 0;  // With padding. Below 2^45, so that sums can't overflow.
  std::uint32_t space = 0;  // The color of its layout.
  bool is_known = true;
};

class ShapeSizes {
 public:
  explicit ShapeSizes(const TextModule& module);

  // A tuple is a table of pointers: 8 bytes each; on TPUs 4, in multiples of 32 (v6e; older ones use 512).
  const ShapeSize& of(std::uint32_t node);
  bool is_tpu() const { return is_tpu_; }

 private:
  ShapeSize compute(const ShapeNode& node) const;

  const TextModule& module_;
  bool is_tpu_ = false;
  std::unordered_map<std::string_view, ShapeSize> sizes_;
};

}  // namespace hbmscope::hlo
