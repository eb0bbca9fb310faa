#include "analysis/read/hlo/live_values.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/read/hlo/value_flow.h"

namespace hbmscope::hlo {
namespace {

constexpr std::uint32_t host_space = 5;
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 60;  // In total.

std::uint64_t limited_sum(std::uint64_t a, std::uint64_t b) {
  return std::min(a + b, bytes_max);
}

struct LiveSpan {
  std::uint64_t begin = 0, end = 0;  // Both included.
};

class LiveValues {
 public:
  explicit LiveValues(const TextModule& module)
      : module_(module), sizes_(module), flow_(compute_value_flow(module, sizes_)) {}

  LiveProgram collect() {
    program_.is_tpu = sizes_.is_tpu();
    program_.instructions = flow_.instructions;
    program_.mismatched = flow_.mismatched;
    add_figures();
    add_values();
    return std::move(program_);
  }

 private:
  const TextInstruction& at(std::uint32_t instruction) const { return module_.instructions[instruction]; }
  std::uint32_t shape(std::uint32_t instruction) const { return at(instruction).shape; }
  const ShapeNode& node(std::uint32_t number) const { return module_.nodes[number]; }

  std::uint64_t device_bytes(std::uint32_t from) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = from; i < from + node(from).nodes; ++i)
      if (sizes_.of(i).space != host_space) bytes = limited_sum(bytes, sizes_.of(i).bytes);
    return bytes;
  }

  void add_figures() {
    const TextComputation& entry = module_.computations[module_.entry];
    for (std::uint32_t i = entry.begin; i < entry.end; ++i)
      if (at(i).opcode == "parameter")
        program_.argument_bytes = limited_sum(program_.argument_bytes, device_bytes(shape(i)));
    for (const std::uint32_t output : flow_.aliased)
      program_.alias_bytes = limited_sum(program_.alias_bytes, device_bytes(output));
    if (entry.root != no_index) program_.output_bytes = device_bytes(shape(entry.root));
  }

  struct Value {
    LiveSpan span{ValueFlow::never, 0};
    std::uint32_t instruction = 0, node = 0;  // That made it.
    bool is_argument = false, is_output = false;
  };

  // All values, by their smallest node.
  std::map<std::uint32_t, Value> gather() {
    std::map<std::uint32_t, Value> values;
    const TextComputation& entry = module_.computations[module_.entry];
    for (std::uint32_t i = 0; i < module_.instructions.size(); ++i) {
      if (flow_.time[i] == ValueFlow::never) continue;
      const bool is_in_entry = i >= entry.begin && i < entry.end;
      for (std::uint32_t n = shape(i); n < shape(i) + node(shape(i)).nodes; ++n) {
        Value& value = values[flow_.values.find(n)];
        const auto known = flow_.begins.find(n);
        const std::uint64_t begin = known == flow_.begins.end() ? flow_.time[i] : known->second;
        if (begin < value.span.begin) {
          value.span.begin = begin;
          value.instruction = i;
          value.node = n;
        }
        value.span.end = std::max({value.span.end, flow_.node_use[n], flow_.last_use[i]});
        value.is_argument = value.is_argument || (is_in_entry && at(i).opcode == "parameter");
        value.is_output = value.is_output || i == entry.root;
      }
    }
    return values;
  }

  void add_values() {
    std::map<std::uint32_t, std::vector<Value>> memories;
    for (auto [smallest, value] : gather()) {
      value.span.end = std::max(value.span.end, value.span.begin);  // If nothing reads it.
      if (!sizes_.of(value.node).is_known) ++program_.unknown_shapes;
      memories[flow_.memories.find(smallest)].push_back(value);
    }
    for (auto& [smallest, values] : memories) add_memory(values);
    std::stable_sort(program_.values.begin(), program_.values.end(),
                     [](const LiveValue& a, const LiveValue& b) { return a.begin < b.begin; });
  }

  void add_memory(std::vector<Value>& values) {
    const auto is_argument = [](const Value& each) { return each.is_argument; };
    const auto is_output = [](const Value& each) { return each.is_output; };
    const auto lasting = std::find_if(values.begin(), values.end(), is_argument);
    if (lasting != values.end()) {
      const bool is_aliased = std::any_of(values.begin(), values.end(), is_output);
      for (const Value& each : values)
        if (each.is_argument) add(each, is_aliased ? ValueKind::aliased_argument : ValueKind::argument);
      return;
    }
    const auto output = std::find_if(values.begin(), values.end(), is_output);
    if (output != values.end()) return add(*output, ValueKind::output);
    std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) { return a.span.begin < b.span.begin; });
    Value joined = values.front();
    for (const Value& each : values) {
      if (each.span.begin <= joined.span.end) {
        joined.span.end = std::max(joined.span.end, each.span.end);
        continue;
      }
      add(joined, kind_of(joined));
      joined = each;
    }
    add(joined, kind_of(joined));
  }

  ValueKind kind_of(const Value& value) const {
    return at(value.instruction).opcode == "constant" ? ValueKind::constant : ValueKind::temporary;
  }

  void add(const Value& value, ValueKind kind) {
    const ShapeSize& size = sizes_.of(value.node);
    if (size.bytes == 0) return;
    if (size.bytes > bytes_max - total_) {
      ++program_.impossible;
      return;
    }
    total_ += size.bytes;
    const LiveSpan span = kind == ValueKind::temporary ? value.span : LiveSpan{0, flow_.instructions - 1};
    program_.values.push_back({value.instruction, value.node, kind, size.bytes, size.space, span.begin, span.end});
  }

  const TextModule& module_;
  ShapeSizes sizes_;
  ValueFlow flow_;
  std::uint64_t total_ = 0;
  LiveProgram program_;
};

}  // namespace

LiveProgram compute_live_values(const TextModule& module) {
  return LiveValues(module).collect();
}

std::string text_from_index(const TextModule& module, const LiveValue& value) {
  std::uint32_t at = module.instructions[value.instruction].shape;
  if (!module.nodes[at].is_tuple) return {};
  std::string text;
  while (at != value.node) {
    const ShapeNode& tuple = module.nodes[at];
    const auto begin = module.part_offsets.begin() + tuple.parts_begin;
    const auto end = module.part_offsets.begin() + tuple.parts_end;
    const auto part = std::upper_bound(begin, end, value.node - at) - 1;
    text += fmt::format("{}{}", text.empty() ? "" : ",", part - begin);
    at += *part;
  }
  return fmt::format("{{{}}}", text);
}

std::uint64_t compute_peak_bytes(const LiveProgram& program, std::uint32_t space) {
  std::map<std::uint64_t, std::uint64_t> begins, ends;
  for (const LiveValue& value : program.values) {
    if (value.kind != ValueKind::temporary || value.space != space) continue;
    begins[value.begin] += value.bytes;
    ends[value.end] += value.bytes;
  }
  std::uint64_t live = 0, peak = 0;
  auto end = ends.begin();
  for (const auto& [time, bytes] : begins) {
    for (; end != ends.end() && end->first < time; ++end) live -= end->second;
    live += bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace hbmscope::hlo
