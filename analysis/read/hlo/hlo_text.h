// The text of an HLO module, as XLA dumps it (xla/hlo/ir/hlo_module.cc and hlo_instruction.cc of openxla/xla@753e5e5)
// and as compiled.as_text() returns it in JAX:
//
//   HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, ...
//
//   ENTRY %main (x: f32[8,128]) -> (f32[8,128]) {
//     %x = f32[8,128]{1,0} parameter(0), metadata={op_name="x"}
//     %add.1 = f32[8,128]{1,0} add(%x, %x), metadata={op_name="jit(f)/add" stack_frame_id=2}
//     ROOT %tuple = (f32[8,128]{1,0}) tuple(%add.1)
//   }
//
// Older texts, and texts of other printing options, have names without "%", operands after their shapes, and no stack
// frames. All texts are views of the text that was read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

constexpr std::uint32_t no_index = ~std::uint32_t{0};

// A shape and its parts, in preorder: "(f32[2], (u32[], pred[]))" is 5 nodes, and its part 1 is node 2.
struct ShapeNode {
  std::string_view text;
  std::uint32_t nodes = 1;                       // Its own and those of all its parts.
  std::uint32_t parts_begin = 0, parts_end = 0;  // In TextModule::part_offsets.
  bool is_tuple = false;
};

struct TextInstruction {
  std::string_view name, opcode;  // Without "%".
  std::string_view literal;       // Between the brackets, if those aren't operands: "0" of parameter(0).
  std::string_view attributes;    // What follows the brackets: ", index=1, metadata={...}".
  std::uint32_t shape = 0;        // In TextModule::nodes.
  std::uint32_t operands_begin = 0, operands_end = 0;  // In TextModule::operands.
};

struct TextComputation {
  std::string_view name;
  std::uint32_t begin = 0, end = 0;  // In TextModule::instructions.
  std::uint32_t root = no_index;     // Its last instruction, if none is marked.
};

// An output that shares the memory of a parameter: donation.
struct OutputAlias {
  std::vector<std::uint64_t> output, parameter_index;
  std::uint64_t parameter = 0;
};

struct TextModule {
  std::string_view name;
  bool is_scheduled = false;
  std::vector<OutputAlias> aliases;
  std::vector<TextComputation> computations;
  std::vector<TextInstruction> instructions;  // Computation after computation.
  std::vector<std::uint32_t> operands;        // Instructions; no_index: of a name that the computation doesn't define.
  std::vector<ShapeNode> nodes;
  std::vector<std::uint32_t> part_offsets;  // From the node of a tuple to the nodes of its parts.
  std::uint32_t entry = no_index;           // In `computations`.
  SourceFrames source;
  std::uint64_t unknown_operands = 0;
  std::uint64_t ignored_lines = 0;  // In a computation, and not an instruction.

  const ShapeNode& shape_of(std::uint32_t instruction) const { return nodes[instructions[instruction].shape]; }
  std::span<const std::uint32_t> operands_of(std::uint32_t instruction) const {
    const TextInstruction& of = instructions[instruction];
    return {operands.data() + of.operands_begin, operands.data() + of.operands_end};
  }
  // The node of a part of a node; no_index: there is no such part.
  std::uint32_t find_part(std::uint32_t node, std::uint64_t part) const {
    const ShapeNode& tuple = nodes[node];
    return part < tuple.parts_end - tuple.parts_begin ? node + part_offsets[tuple.parts_begin + part] : no_index;
  }
};

// Whether the text begins with "HloModule ", possibly after blank lines and comments ("// ...").
bool looks_like_hlo_text(std::span<const std::uint8_t> bytes);

// Errors, with byte and line: no entry computation, a computation that isn't closed, an instruction without a shape.
Result<TextModule> read_hlo_text(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::hlo
