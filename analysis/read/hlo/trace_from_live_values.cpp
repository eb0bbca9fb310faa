#include "analysis/read/hlo/trace_from_live_values.h"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/attribute.h"
#include "analysis/read/counter.h"
#include "analysis/read/hlo/source_stacks.h"
#include "analysis/read/hlo/space_heaps.h"
#include "analysis/read/hlo/text_scan.h"
#include "analysis/read/hlo/text_values.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope::hlo {
namespace {

constexpr std::size_t text_bytes_max = 1024;  // Each value has a copy of its shape and of its name.

std::string_view text_from_kind(ValueKind kind) {
  switch (kind) {
    case ValueKind::argument: return "argument";
    case ValueKind::aliased_argument: return "argument, also an output";
    case ValueKind::output: return "output";
    case ValueKind::constant: return "constant";
    case ValueKind::temporary: break;
  }
  return "temporary";
}

class LiveTraceMaker {
 public:
  LiveTraceMaker(const TextModule& module, const LiveProgram& program, const std::string& name, std::uint64_t bytes)
      : module_(module), program_(program), out_({name, "hlo", "HLO text", "xla", bytes, TraceOrigin::program}) {
    if (!module.name.empty()) writer_.add_job_fact("hlo_module", module.name);
    if (!module.is_scheduled) writer_.add_job_fact("hlo_schedule", "none");
  }

  Trace make() {
    add_figures();
    for (const LiveValue& value : program_.values)
      if (value.kind != ValueKind::temporary) add_block(value);
    play_temporaries();
    report();
    out_.close();
    return std::move(out_.trace());
  }

 private:
  void add_figure(std::string_view name, std::uint64_t value, std::uint32_t heap = 0) {
    add_counter(writer_, name, static_cast<std::int64_t>(value), heap, 0);
  }

  void add_figures() {
    add_figure(reported_figure::program_argument, program_.argument_bytes);
    add_figure(reported_figure::program_output, program_.output_bytes);
    add_figure(reported_figure::program_alias, program_.alias_bytes);
    add_figure(reported_figure::program_live_temp, compute_peak_bytes(program_, 0));
    std::map<std::uint32_t, std::uint64_t> lasting;
    for (const LiveValue& value : program_.values)
      lasting[value.space] += value.kind == ValueKind::temporary ? 0 : value.bytes;
    for (const auto& [space, bytes] : lasting)
      add_figure(reported_figure::program_space, bytes + compute_peak_bytes(program_, space), heap_of(space));
  }

  std::uint32_t heap_of(std::uint32_t space) {
    const auto found = heaps_.find(space);
    if (found != heaps_.end()) return found->second;
    return heaps_[space] = define_space_heap(writer_, program_.is_tpu, space, wire::heap_flag::has_requested);
  }

  std::uint32_t stack_of(const TextInstruction& instruction) {
    std::string_view metadata = inside(find_attribute(instruction.attributes, "metadata"));
    const auto text = [&](std::string_view key) {
      return unescaped(inside(find_attribute(metadata, key)).substr(0, text_bytes_max));
    };
    const auto number = [&](std::string_view key) {
      return static_cast<std::uint32_t>(number_after(find_attribute(metadata, key), "").value_or(0));
    };
    return stacks_.stack_of(text("op_name"), number("stack_frame_id"), text("source_file"), number("source_line"));
  }

  // Addresses are invented, to identify the blocks. Returns the block's.
  std::uint64_t add_block(const LiveValue& value) {
    const TextInstruction& instruction = module_.instructions[value.instruction];
    const ShapeNode& node = module_.nodes[value.node];
    wire::AllocRecord block;
    block.address = next_address_;
    block.size = value.bytes;
    block.requested = find_data_bytes(node.text, node.is_tuple, value.bytes);
    block.heap = heap_of(value.space);
    block.stack = stack_of(instruction);
    block.tag = writer_.define_string(std::string(instruction.name.substr(0, text_bytes_max)) +
                                      text_from_index(module_, value));
    next_address_ += value.bytes;
    const std::uint64_t number = writer_.alloc(block, 0);
    add_attribute(writer_, number, "kind", text_from_kind(value.kind));
    const bool is_cut = node.text.size() > text_bytes_max;
    add_attribute(writer_, number, "shape",
                  is_cut ? std::string(node.text.substr(0, text_bytes_max)) + "..." : std::string(node.text));
    return block.address;
  }

  // What ends before an instruction is freed before that one's own values begin.
  void play_temporaries() {
    struct Live {
      const LiveValue* value;
      std::uint64_t address;
    };
    std::multimap<std::uint64_t, Live> live;  // By end.
    const auto free_until = [&](std::uint64_t time) {
      for (auto each = live.begin(); each != live.end() && each->first < time; each = live.erase(each))
        writer_.free(heap_of(each->second.value->space), each->second.address, each->second.value->bytes, 0, 0);
    };
    for (const LiveValue& value : program_.values) {
      if (value.kind != ValueKind::temporary) continue;
      free_until(value.begin);
      live.emplace(value.end, Live{&value, add_block(value)});
    }
    free_until(program_.instructions);
  }

  void report() {
    ImportStatistics& import = out_.trace().import;
    import.add("instructions", Severity::info, static_cast<std::int64_t>(program_.instructions));
    import.add("values", Severity::info, static_cast<std::int64_t>(program_.values.size()));
    import.add_if_any(
        "by_shapes", Severity::notice, 1,
        "HLO text has no buffer assignment: sizes are those of the shapes, addresses are unknown, and XLA's own "
        "assignment may let more values share memory, or leave gaps. The -buffer-assignment.txt or the .hlo.pb "
        "(--xla_dump_hlo_as_proto) of the same module has it.");
    import.add_if_any(
        "not_scheduled", Severity::warning, module_.is_scheduled ? 0 : 1,
        "This module is not scheduled: instructions are in the order of the text, the real order is unknown, and so "
        "is the peak. The text after optimizations is scheduled.");
    import.add_if_any("unknown_operands", Severity::warning, module_.unknown_operands,
                      "Operands that no earlier instruction defines were ignored.");
    import.add_if_any("ignored_lines", Severity::notice, module_.ignored_lines,
                      "Lines inside of computations that are not instructions, such as those of large constants.");
    import.add_if_any("unknown_shapes", Severity::loss, program_.unknown_shapes,
                      "Values of an unknown type count as 0.");
    import.add_if_any(
        "mismatched_shapes", Severity::warning, program_.mismatched,
        "Instructions whose operands don't have the shape that they need: their results count by themselves.");
    import.add_if_any("impossible_sizes", Severity::loss, program_.impossible,
                      "Values of impossible sizes were left out.");
  }

  const TextModule& module_;
  const LiveProgram& program_;
  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  SourceStacks stacks_{writer_, module_.source};
  std::map<std::uint32_t, std::uint32_t> heaps_;  // By space.
  std::uint64_t next_address_ = 0;
};

}  // namespace

Trace trace_from_live_values(const TextModule& module, const LiveProgram& program, const std::string& name,
                             std::uint64_t bytes) {
  return LiveTraceMaker(module, program, name, bytes).make();
}

}  // namespace hbmscope::hlo
