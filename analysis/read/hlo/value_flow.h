// Which parts of which instructions of a module are one value, which values share memory, and when they are made and
// read. The rules are those of live_values.h; parts are nodes of TextModule::nodes.
#pragma once

#include <cstdint>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/read/hlo/hlo_text.h"

namespace hbmscope::hlo {

// The bytes of the shapes of a text. A shape occurs many times in a module, so each text is parsed once.
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

// Sets that only ever grow together (union-find): which of the numbers 0, 1, ... belong to one another.
class JoinedSets {
 public:
  explicit JoinedSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

  // The smallest number of its set.
  std::uint32_t find(std::uint32_t number) {
    while (parent_[number] != number) number = parent_[number] = parent_[parent_[number]];
    return number;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[a < b ? b : a] = a < b ? a : b;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

struct ValueFlow {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  JoinedSets values;                    // Nodes that are one value.
  JoinedSets memories;                  // Nodes in one memory; those of one value always are.
  std::vector<std::uint64_t> time;      // By instruction; never: it doesn't run by itself, as inside of a fusion.
  std::vector<std::uint64_t> last_use;  // By instruction: the last use of any part of its value, or 0.
  std::vector<std::uint64_t> node_use;  // By node: of this part alone.
  std::unordered_map<std::uint32_t, std::uint64_t> begins;  // Only nodes that begin before their instruction.
  std::vector<std::uint32_t> aliased;                       // Outputs in the memory of a parameter.
  std::uint64_t instructions = 0;                           // That run.
  std::uint64_t mismatched = 0;                             // As in LiveProgram.
};

ValueFlow compute_value_flow(const TextModule& module, ShapeSizes& sizes);

}  // namespace hbmscope::hlo
