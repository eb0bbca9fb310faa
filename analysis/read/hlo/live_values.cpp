#include "analysis/read/hlo/live_values.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/read/hlo/joined_sets.h"
#include "analysis/read/hlo/shape_sizes.h"
#include "analysis/read/hlo/text_scan.h"
#include "analysis/read/hlo/text_values.h"

namespace hbmscope::hlo {
namespace {

constexpr int call_depth_max = 64;  // Nested calls.
constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr std::uint32_t host_space = 5;
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 60;  // In total.

std::uint64_t limited_sum(std::uint64_t a, std::uint64_t b) {
  return std::min(a + b, bytes_max);
}

struct Span {
  std::uint64_t begin = 0, end = 0;  // Both included.
};

class Liveness {
 public:
  explicit Liveness(const TextModule& module)
      : module_(module),
        sizes_(module),
        values_(module.nodes.size()),
        memories_(module.nodes.size()),
        time_(module.instructions.size(), never),
        last_use_(module.instructions.size(), 0),
        end_(module.nodes.size(), 0),
        is_walked_(module.computations.size()) {
    for (std::uint32_t i = 0; i < module.computations.size(); ++i) {
      const TextComputation& computation = module.computations[i];
      computations_.emplace(computation.name, i);
      for (std::uint32_t each = computation.begin; each < computation.end; ++each)
        if (const auto number = number_after(at(each).literal, ""); number && at(each).opcode == "parameter")
          parameters_.emplace(std::uint64_t{i} << 32U | (*number & no_index), each);
    }
  }

  LiveProgram compute() {
    walk(module_.entry, call_depth_max);
    program_.is_tpu = sizes_.is_tpu();
    program_.instructions = next_;
    join_outputs_with_parameters();
    add_figures();
    collect();
    return std::move(program_);
  }

 private:
  const TextInstruction& at(std::uint32_t instruction) const { return module_.instructions[instruction]; }
  std::uint32_t shape(std::uint32_t instruction) const { return at(instruction).shape; }
  const ShapeNode& node(std::uint32_t number) const { return module_.nodes[number]; }

  // An operand that exists and runs before the instruction.
  std::uint32_t operand(std::uint32_t instruction, std::size_t number) const {
    const auto operands = module_.operands_of(instruction);
    return number < operands.size() ? operands[number] : no_index;
  }

  std::uint32_t find_computation(std::string_view name) const {
    if (name.starts_with('%')) name.remove_prefix(1);
    const auto found = computations_.find(name);
    return found == computations_.end() ? no_index : found->second;
  }

  // The computations that run as parts of the instruction, in the order of XLA's schedule.
  std::vector<std::uint32_t> find_called(std::uint32_t instruction) const {
    const TextInstruction& of = at(instruction);
    std::vector<std::uint32_t> called;
    const auto add = [&](std::string_view name) {
      if (!name.empty()) called.push_back(find_computation(name));
    };
    const auto attribute = [&](std::string_view key) { return find_attribute(of.attributes, key); };
    if (of.opcode == "while") {
      called = {find_computation(attribute("condition")), find_computation(attribute("body"))};
    } else if (of.opcode == "call") {
      add(attribute("to_apply"));
    } else if (of.opcode == "conditional") {
      for (std::string_view list = inside(attribute("branch_computations")); !list.empty();) add(take_part(list));
      add(attribute("true_computation"));
      add(attribute("false_computation"));
    }
    return called;
  }

  void walk(std::uint32_t computation, int depth) {
    is_walked_[computation] = true;
    const TextComputation& of = module_.computations[computation];
    for (std::uint32_t i = of.begin; i < of.end; ++i) {
      std::vector<std::uint32_t> called = find_called(i);
      std::vector<Span> spans;
      bool is_all = !called.empty();
      for (const std::uint32_t each : called)
        // A second caller is treated as one instruction, as XLA gives each its own copy.
        if (each == no_index || depth == 0 || is_walked_[each] || module_.computations[each].root == no_index)
          is_all = false;
      for (const std::uint32_t each : called) {
        if (!is_all || is_walked_[each]) break;
        spans.push_back({next_, 0});
        walk(each, depth - 1);
        spans.back().end = next_ - 1;
      }
      time_[i] = next_++;
      if (is_all && spans.size() == called.size())
        join_called(i, called, spans);
      else
        process(i);
    }
  }

  // --- What flows where ---

  void use(std::uint32_t instruction, std::uint64_t time) {
    if (instruction != no_index) last_use_[instruction] = std::max(last_use_[instruction], time);
  }
  void use_node(std::uint32_t number, std::uint64_t time) { end_[number] = std::max(end_[number], time); }
  void use_operands(std::uint32_t instruction) {
    for (const std::uint32_t each : module_.operands_of(instruction)) use(each, time_[instruction]);
  }

  // The same value, and so the same memory. False: the shapes differ.
  bool join(std::uint32_t a, std::uint32_t b) { return join_all(a, b, values_); }
  // Another value in the same memory.
  bool join_memory(std::uint32_t a, std::uint32_t b) {
    const ShapeSize first = sizes_.of(a), second = sizes_.of(b);
    const bool is_same = first.bytes == second.bytes && first.space == second.space;
    return !module_.is_scheduled || (is_same && join_all(a, b, memories_));
  }
  bool join_all(std::uint32_t a, std::uint32_t b, JoinedSets& sets) {
    if (node(a).nodes != node(b).nodes) {
      ++program_.mismatched;
      return false;
    }
    for (std::uint32_t i = 0; i < node(a).nodes; ++i) sets.join(a + i, b + i);
    return true;
  }

  void process(std::uint32_t instruction) {
    const std::string_view opcode = at(instruction).opcode;
    const std::uint32_t first = operand(instruction, 0), own = shape(instruction);
    if (opcode == "tuple") return join_parts(instruction, own);
    if (opcode == "get-tuple-element" && first != no_index) {
      const auto number = number_after(find_attribute(at(instruction).attributes, "index"), "");
      const std::uint32_t part = module_.find_part(shape(first), number.value_or(no_index));
      use_node(shape(first), time_[instruction]);
      if (part != no_index && join(own, part)) return;
    }
    if ((opcode == "bitcast" || opcode == "optimization-barrier" || opcode == "add-dependency" || opcode == "domain") &&
        first != no_index && join(own, shape(first)))
      return;
    use_operands(instruction);
    if (first == no_index) return;
    if (opcode.ends_with("-start") || opcode == "send")
      join_start(instruction, opcode);
    else if (opcode.ends_with("-done") || opcode.ends_with("-update"))
      join_done(own, shape(first), opcode);
    else if (opcode == "dynamic-update-slice" || opcode == "set-dimension-size" ||
             (opcode == "scatter" && !node(own).is_tuple))
      join_memory(own, shape(first));
    else if (opcode == "fusion" || opcode == "custom-call")
      join_in_place(instruction);
  }

  void join_parts(std::uint32_t instruction, std::uint32_t tuple) {
    const auto operands = module_.operands_of(instruction);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::uint32_t part = module_.find_part(tuple, i);
      if (operands[i] == no_index) continue;
      if (part == no_index || !join(part, shape(operands[i]))) use(operands[i], time_[instruction]);
    }
  }

  // copy-start makes (destination, source, ...), others (operands, results, ...).
  void join_start(std::uint32_t instruction, std::string_view opcode) {
    const std::uint32_t own = shape(instruction), source = module_.find_part(own, opcode == "copy-start" ? 1 : 0);
    const std::uint32_t first = shape(operand(instruction, 0));
    if (opcode == "all-reduce-start")
      join_memory(own, first);
    else if (source != no_index && node(source).text == node(first).text)
      join(source, first);
    else if (source != no_index && node(source).is_tuple)
      join_parts(instruction, source);
  }

  void join_done(std::uint32_t own, std::uint32_t started, std::string_view opcode) {
    const std::uint32_t destination = module_.find_part(started, opcode == "copy-done" ? 0 : 1);
    const std::uint32_t data = module_.find_part(own, 0);
    if (node(own).text == node(started).text)
      join(own, started);
    else if (opcode == "recv-done" && data != no_index && module_.find_part(started, 0) != no_index)
      join(data, module_.find_part(started, 0));
    else if (destination != no_index && node(destination).nodes == node(own).nodes)
      join(own, destination);
  }

  // --- Updates in place ---

  void join_in_place(std::uint32_t instruction) {
    const std::string_view listed = find_attribute(at(instruction).attributes, "output_to_operand_aliasing");
    for (std::string_view list = inside(listed); !list.empty();) {
      const std::string_view entry = take_part(list);  // "{1}: (0, {})"
      const std::size_t colon = entry.find(": ");
      if (colon == std::string_view::npos) continue;
      std::string_view target = inside(entry.substr(colon + 2));
      const auto number = number_after(take_part(target), "");
      const std::uint32_t from = number ? operand(instruction, *number) : no_index;
      const std::uint32_t part = find_at(shape(instruction), entry.substr(0, colon));
      const std::uint32_t source = from == no_index ? no_index : find_at(shape(from), take_part(target));
      if (part != no_index && source != no_index) join_memory(part, source);
    }
    if (at(instruction).opcode != "fusion") return;
    const std::uint32_t fused = find_computation(find_attribute(at(instruction).attributes, "calls"));
    const std::uint32_t root = fused == no_index ? no_index : module_.computations[fused].root;
    if (root == no_index) return;
    if (at(root).opcode != "tuple") return join_updated(instruction, shape(instruction), root);
    for (std::size_t i = 0; i < module_.operands_of(root).size(); ++i) {
      const std::uint32_t part = module_.find_part(shape(instruction), i), made = operand(root, i);
      if (part != no_index && made != no_index) join_updated(instruction, part, made);
    }
  }

  // If a fusion makes a part by updating one of its operands.
  void join_updated(std::uint32_t fusion, std::uint32_t part, std::uint32_t made) {
    bool is_update = false;
    while (at(made).opcode != "parameter") {
      const std::string_view opcode = at(made).opcode;
      const bool is_one = opcode == "dynamic-update-slice" || (opcode == "scatter" && !node(shape(made)).is_tuple);
      if (!is_one && opcode != "bitcast") return;
      is_update = is_update || is_one;
      made = operand(made, 0);  // Before it in the text, so this ends.
      if (made == no_index) return;
    }
    const auto number = number_after(at(made).literal, "");
    const std::uint32_t source = number ? operand(fusion, *number) : no_index;
    if (is_update && source != no_index && !node(part).is_tuple && !node(shape(source)).is_tuple)
      join_memory(part, shape(source));
  }

  // The node at "{1,0}" of a shape.
  std::uint32_t find_at(std::uint32_t from, std::string_view index) const {
    for (index = inside(index); !index.empty() && from != no_index;) {
      const std::string_view number = take_part(index);
      from = module_.find_part(from, number_after(number, "").value_or(no_index));
    }
    return from;
  }

  // --- Loops, branches and calls ---

  std::uint32_t find_parameter(std::uint64_t computation, std::uint64_t number) const {
    const auto found = number > no_index ? parameters_.end() : parameters_.find(computation << 32U | number);
    return found == parameters_.end() ? no_index : found->second;
  }

  void join_called(std::uint32_t instruction, const std::vector<std::uint32_t>& called,
                   const std::vector<Span>& spans) {
    const std::string_view opcode = at(instruction).opcode;
    if (opcode == "while") return join_loop(instruction, called[1], called[0], spans);
    if (opcode == "call") return join_call(instruction, called[0]);
    use(operand(instruction, 0), time_[instruction] - 1);
    for (std::size_t i = 0; i < called.size(); ++i) join_branch(instruction, i, called[i], spans[i]);
  }

  void join_call(std::uint32_t instruction, std::uint32_t computation) {
    const TextComputation& of = module_.computations[computation];
    for (std::uint32_t i = of.begin; i < of.end; ++i) {
      if (at(i).opcode != "parameter") continue;
      const auto number = number_after(at(i).literal, "");
      const std::uint32_t source = number ? operand(instruction, *number) : no_index;
      if (source != no_index && !join(shape(i), shape(source))) use(source, time_[instruction]);
    }
    join(shape(instruction), shape(of.root));
  }

  void join_branch(std::uint32_t instruction, std::size_t number, std::uint32_t computation, const Span& span) {
    const std::uint32_t source = operand(instruction, number + 1), parameter = find_parameter(computation, 0);
    if (source != no_index && (parameter == no_index || !join(shape(parameter), shape(source)))) use(source, span.end);
    const std::uint32_t root = module_.computations[computation].root;
    use(root, span.end);
    // What only passes through is live until the branches meet.
    const std::uint32_t nodes = parameter == no_index ? 0 : node(shape(parameter)).nodes;
    std::vector<std::uint32_t> passed;
    for (std::uint32_t i = 0; i < nodes; ++i) passed.push_back(values_.find(shape(parameter) + i));
    std::sort(passed.begin(), passed.end());
    for (std::uint32_t i = 0; i < node(shape(root)).nodes; ++i)
      if (std::binary_search(passed.begin(), passed.end(), values_.find(shape(root) + i)))
        use_node(shape(root) + i, time_[instruction]);
    join_memory(shape(instruction), shape(root));
  }

  // What the body hands on unchanged is one value; of the rest each round makes a new one in the same memory.
  void join_loop(std::uint32_t loop, std::uint32_t body, std::uint32_t condition, const std::vector<Span>& spans) {
    const std::uint32_t start = operand(loop, 0), carried = find_parameter(body, 0);
    const std::uint32_t tested = find_parameter(condition, 0), root = module_.computations[body].root;
    if (start == no_index || carried == no_index || tested == no_index) return use_operands(loop);
    const std::uint32_t own = shape(loop), nodes = node(own).nodes;
    for (const std::uint32_t other : {start, carried, tested, root})
      if (node(shape(other)).nodes != nodes) {
        ++program_.mismatched;
        return use_operands(loop);
      }
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const std::uint32_t first = shape(start) + i, inner = shape(carried) + i, last = shape(root) + i;
      if (values_.find(inner) == values_.find(last)) {
        for (const std::uint32_t each : {own + i, inner, shape(tested) + i}) values_.join(first, each);
        use_node(first, time_[loop]);
        continue;
      }
      use_node(first, spans[0].begin);  // The condition's, which runs first.
      starts_.emplace_back(shape(tested) + i, spans[0].begin);
      use_node(shape(tested) + i, spans[1].begin);
      starts_.emplace_back(inner, spans[1].begin);
      use_node(last, time_[loop]);
      if (!module_.is_scheduled) continue;
      for (const std::uint32_t each : {first, inner, last, shape(tested) + i}) memories_.join(own + i, each);
    }
  }

  // --- The result ---

  std::uint32_t root_shape() const { return shape(module_.computations[module_.entry].root); }

  void join_outputs_with_parameters() {
    if (module_.computations[module_.entry].root == no_index) return;
    for (const OutputAlias& alias : module_.aliases) {
      const std::uint32_t parameter = find_parameter(module_.entry, alias.parameter);
      if (parameter == no_index) continue;
      const auto find = [&](std::uint32_t from, const std::vector<std::uint64_t>& index) {
        for (const std::uint64_t part : index)
          if (from != no_index) from = module_.find_part(from, part);
        return from;
      };
      const std::uint32_t output = find(root_shape(), alias.output);
      const std::uint32_t source = find(shape(parameter), alias.parameter_index);
      if (output == no_index || source == no_index || node(output).nodes != node(source).nodes) continue;
      for (std::uint32_t i = 0; i < node(output).nodes; ++i) memories_.join(output + i, source + i);
      program_.alias_bytes = limited_sum(program_.alias_bytes, device_bytes(source));
    }
  }

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
    if (entry.root != no_index) program_.output_bytes = device_bytes(root_shape());
  }

  struct Value {
    Span span{never, 0};
    std::uint32_t instruction = 0, node = 0;  // That made it.
    bool is_argument = false, is_output = false;
  };

  // All values, by their smallest node.
  std::map<std::uint32_t, Value> gather() {
    std::map<std::uint32_t, Value> values;
    const TextComputation& entry = module_.computations[module_.entry];
    for (const auto& [number, time] : starts_) begins_[number] = time;
    for (std::uint32_t i = 0; i < module_.instructions.size(); ++i) {
      if (time_[i] == never) continue;
      const bool is_in_entry = i >= entry.begin && i < entry.end;
      for (std::uint32_t n = shape(i); n < shape(i) + node(shape(i)).nodes; ++n) {
        Value& value = values[values_.find(n)];
        const auto known = begins_.find(n);
        const std::uint64_t begin = known == begins_.end() ? time_[i] : known->second;
        if (begin < value.span.begin) {
          value.span.begin = begin;
          value.instruction = i;
          value.node = n;
        }
        value.span.end = std::max({value.span.end, end_[n], last_use_[i]});
        value.is_argument = value.is_argument || (is_in_entry && at(i).opcode == "parameter");
        value.is_output = value.is_output || i == entry.root;
      }
    }
    return values;
  }

  void collect() {
    std::map<std::uint32_t, std::vector<Value>> memories;
    for (auto [smallest, value] : gather()) {
      value.span.end = std::max(value.span.end, value.span.begin);  // If nothing reads it.
      if (!sizes_.of(value.node).is_known) ++program_.unknown_shapes;
      memories[joined_memory_of(smallest)].push_back(value);
    }
    for (auto& [smallest, values] : memories) add_memory(values);
    std::stable_sort(program_.values.begin(), program_.values.end(),
                     [](const LiveValue& a, const LiveValue& b) { return a.begin < b.begin; });
  }

  // Sets of memory were joined by nodes of values, any of which may stand for a value.
  std::uint32_t joined_memory_of(std::uint32_t value) {
    if (!are_memories_whole_) {
      for (std::uint32_t n = 0; n < module_.nodes.size(); ++n) memories_.join(n, values_.find(n));
      are_memories_whole_ = true;
    }
    return memories_.find(value);
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
    const Span span = kind == ValueKind::temporary ? value.span : Span{0, next_ - 1};
    program_.values.push_back({value.instruction, value.node, kind, size.bytes, size.space, span.begin, span.end});
  }

  const TextModule& module_;
  ShapeSizes sizes_;
  JoinedSets values_, memories_;
  std::vector<std::uint64_t> time_;      // By instruction; never: it doesn't run by itself.
  std::vector<std::uint64_t> last_use_;  // By instruction: of all parts of its value.
  std::vector<std::uint64_t> end_;       // By node: of this part alone.
  std::vector<bool> is_walked_;          // By computation.
  std::unordered_map<std::string_view, std::uint32_t> computations_;
  std::unordered_map<std::uint64_t, std::uint32_t> parameters_;  // By computation and number.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> starts_;  // Of what loops carry, by node.
  std::unordered_map<std::uint32_t, std::uint64_t> begins_;
  bool are_memories_whole_ = false;
  std::uint64_t next_ = 0, total_ = 0;
  LiveProgram program_;
};

}  // namespace

LiveProgram compute_live_values(const TextModule& module) {
  return Liveness(module).compute();
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
