// Which parts of which instructions of a module are one value, which values share memory, and when they are made and
// read. The rules are those of live_values.h; parts are nodes of TextModule::nodes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/read/hlo/hlo_text.h"
#include "analysis/read/hlo/joined_sets.h"
#include "analysis/read/hlo/shape_sizes.h"

namespace hbmscope::hlo {

struct ValueFlow {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  JoinedSets values;                    // Nodes that are one value.
  JoinedSets memories;                  // Nodes in one memory; those of one value always are.
  std::vector<std::uint64_t> time;      // By instruction; never: it doesn't run by itself, as inside of a fusion.
  std::vector<std::uint64_t> last_use;  // By instruction: of all parts of its value; 0: none.
  std::vector<std::uint64_t> node_use;  // By node: of this part alone.
  std::unordered_map<std::uint32_t, std::uint64_t> begins;  // Of nodes that begin before their instruction.
  std::vector<std::uint32_t> aliased;                       // Outputs in the memory of a parameter.
  std::uint64_t instructions = 0;                           // That run.
  std::uint64_t mismatched = 0;                             // As in LiveProgram.
};

ValueFlow compute_value_flow(const TextModule& module, ShapeSizes& sizes);

}  // namespace hbmscope::hlo
