// The context in which the parts of a workload file are read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator/emulated/tpu/emulation/workload.h"
#include "analysis/read/tpu_workload/json_node.h"

namespace hbmscope::tpu_workload {

namespace tpu = allocator::tpu;

struct Scope {
  std::string_view text;  // The file.
  tpu::Workload workload;
  std::vector<std::pair<std::string, Node>> arrays;  // As declared.
  Variables parameters;
  std::optional<std::uint32_t> buffers;  // A what-if for every ring.
  std::size_t operations = 0;            // So far, in all programs.

  const Node* find_array(const std::string& name) const;
  std::uint32_t line_of(const Node& node) const;

 private:
  mutable std::map<JsonPath, std::uint32_t> lines_;  // A cache: a loop asks for one line a thousand times.
};

constexpr std::size_t expanded_most = 1'000'000;  // Steps, operations, grid steps: a loop may have any number of turns.

// Calls `visit` for each combination of the loops in "for", outermost first; once if there are none.
void for_each_turn(const Node& node, const Variables& variables, const std::function<void(const Variables&)>& visit);

const tpu::ElementType& read_type(const Node& node);
std::vector<std::uint64_t> read_shape(const Node& node, const Variables& variables);
// `may_be_uneven`: inside a program. Faults as in jax.
tpu::Array read_array(const Node& node, const std::string& name, const Scope& scope, const Variables& variables,
                      bool may_be_uneven);
// In VMEM, SMEM or an accumulator: unchanged dimensions, in tiles.
tpu::Shape tiled_shape(const Node& node, const tpu::ElementType& type, const std::vector<std::uint64_t>& sizes,
                       const tpu::Generation& generation);
std::uint64_t padded_bytes(const Node& node, const tpu::Shape& shape);

void read_programs(const Node& root, Scope& scope);
void read_pipelines(const Node& root, Scope& scope);
void read_steps(const Node& root, Scope& scope);

}  // namespace hbmscope::tpu_workload
