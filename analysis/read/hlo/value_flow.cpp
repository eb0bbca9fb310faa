#include "analysis/read/hlo/value_flow.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "allocator/emulated/tpu/shape.h"
#include "analysis/read/hlo/text_scan.h"
#include "analysis/read/hlo/text_values.h"

namespace hbmscope::hlo {
namespace {

constexpr int call_depth_max = 64;  // Nested calls.

// When a called computation runs.
struct Span {
  std::uint64_t begin = 0, end = 0;  // Both included.
};

class FlowMaker {
 public:
  FlowMaker(const TextModule& module, ShapeSizes& sizes)
      : module_(module),
        sizes_(sizes),
        flow_{JoinedSets(module.nodes.size()),
              JoinedSets(module.nodes.size()),
              std::vector<std::uint64_t>(module.instructions.size(), ValueFlow::never),
              std::vector<std::uint64_t>(module.instructions.size()),
              std::vector<std::uint64_t>(module.nodes.size()),
              {},
              {},
              0,
              0},
        is_walked_(module.computations.size()) {
    for (std::uint32_t i = 0; i < module.computations.size(); ++i) {
      const TextComputation& computation = module.computations[i];
      computations_.emplace(computation.name, i);
      for (std::uint32_t each = computation.begin; each < computation.end; ++each)
        if (const auto number = number_after(at(each).literal, ""); number && at(each).opcode == "parameter")
          parameters_.emplace(std::uint64_t{i} << 32U | (*number & no_index), each);
    }
  }

  ValueFlow make() {
    walk(module_.entry, call_depth_max);
    join_outputs_with_parameters();
    for (std::uint32_t i = 0; i < module_.nodes.size(); ++i) flow_.memories.join(i, flow_.values.find(i));
    return std::move(flow_);
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
        spans.push_back({flow_.instructions, 0});
        walk(each, depth - 1);
        spans.back().end = flow_.instructions - 1;
      }
      flow_.time[i] = flow_.instructions++;
      if (is_all && spans.size() == called.size())
        join_called(i, called, spans);
      else
        process(i);
    }
  }

  // --- What flows where ---

  void use(std::uint32_t instruction, std::uint64_t time) {
    if (instruction != no_index) flow_.last_use[instruction] = std::max(flow_.last_use[instruction], time);
  }
  void use_node(std::uint32_t number, std::uint64_t time) {
    flow_.node_use[number] = std::max(flow_.node_use[number], time);
  }
  void use_operands(std::uint32_t instruction) {
    for (const std::uint32_t each : module_.operands_of(instruction)) use(each, flow_.time[instruction]);
  }

  // The same value, and so the same memory. False: the shapes differ.
  bool join(std::uint32_t a, std::uint32_t b) { return join_all(a, b, flow_.values); }
  // Another value in the same memory.
  bool join_memory(std::uint32_t a, std::uint32_t b) {
    const ShapeSize first = sizes_.of(a), second = sizes_.of(b);
    const bool is_same = first.bytes == second.bytes && first.space == second.space;
    return !module_.is_scheduled || (is_same && join_all(a, b, flow_.memories));
  }
  bool join_all(std::uint32_t a, std::uint32_t b, JoinedSets& sets) {
    if (node(a).nodes != node(b).nodes) {
      ++flow_.mismatched;
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
      use_node(shape(first), flow_.time[instruction]);
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
      if (part == no_index || !join(part, shape(operands[i]))) use(operands[i], flow_.time[instruction]);
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
    const auto [known, is_new] = updated_.try_emplace(made, no_index);
    if (is_new) known->second = find_updated(made);
    const std::uint32_t source = operand(fusion, known->second);
    if (source != no_index && !node(part).is_tuple && !node(shape(source)).is_tuple) join_memory(part, shape(source));
  }

  // The number of the parameter whose update the instruction is; no_index: none.
  std::uint32_t find_updated(std::uint32_t made) const {
    bool is_update = false;
    while (at(made).opcode != "parameter") {
      const std::string_view opcode = at(made).opcode;
      const bool is_one = opcode == "dynamic-update-slice" || (opcode == "scatter" && !node(shape(made)).is_tuple);
      if (!is_one && opcode != "bitcast") return no_index;
      is_update = is_update || is_one;
      made = operand(made, 0);  // Before it in the text, so this ends.
      if (made == no_index) return no_index;
    }
    const auto number = number_after(at(made).literal, "");
    return is_update && number && *number < no_index ? static_cast<std::uint32_t>(*number) : no_index;
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
    use(operand(instruction, 0), flow_.time[instruction] - 1);
    for (std::size_t i = 0; i < called.size(); ++i) join_branch(instruction, i, called[i], spans[i]);
  }

  void join_call(std::uint32_t instruction, std::uint32_t computation) {
    const TextComputation& of = module_.computations[computation];
    for (std::uint32_t i = of.begin; i < of.end; ++i) {
      if (at(i).opcode != "parameter") continue;
      const auto number = number_after(at(i).literal, "");
      const std::uint32_t source = number ? operand(instruction, *number) : no_index;
      if (source != no_index && !join(shape(i), shape(source))) use(source, flow_.time[instruction]);
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
    for (std::uint32_t i = 0; i < nodes; ++i) passed.push_back(flow_.values.find(shape(parameter) + i));
    std::sort(passed.begin(), passed.end());
    for (std::uint32_t i = 0; i < node(shape(root)).nodes; ++i)
      if (std::binary_search(passed.begin(), passed.end(), flow_.values.find(shape(root) + i)))
        use_node(shape(root) + i, flow_.time[instruction]);
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
        ++flow_.mismatched;
        return use_operands(loop);
      }
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const std::uint32_t first = shape(start) + i, inner = shape(carried) + i, last = shape(root) + i;
      if (flow_.values.find(inner) == flow_.values.find(last)) {
        for (const std::uint32_t each : {own + i, inner, shape(tested) + i}) flow_.values.join(first, each);
        use_node(first, flow_.time[loop]);
        continue;
      }
      use_node(first, spans[0].begin);  // The condition's, which runs first.
      flow_.begins[shape(tested) + i] = spans[0].begin;
      use_node(shape(tested) + i, spans[1].begin);
      flow_.begins[inner] = spans[1].begin;
      use_node(last, flow_.time[loop]);
      if (!module_.is_scheduled) continue;
      for (const std::uint32_t each : {first, inner, last, shape(tested) + i}) flow_.memories.join(own + i, each);
    }
  }

  // --- Donation ---

  void join_outputs_with_parameters() {
    const std::uint32_t root = module_.computations[module_.entry].root;
    if (root == no_index) return;
    for (const OutputAlias& alias : module_.aliases) {
      const std::uint32_t parameter = find_parameter(module_.entry, alias.parameter);
      if (parameter == no_index) continue;
      const auto find = [&](std::uint32_t from, const std::vector<std::uint64_t>& index) {
        for (const std::uint64_t part : index)
          if (from != no_index) from = module_.find_part(from, part);
        return from;
      };
      const std::uint32_t output = find(shape(root), alias.output);
      const std::uint32_t source = find(shape(parameter), alias.parameter_index);
      if (output == no_index || source == no_index || node(output).nodes != node(source).nodes) continue;
      for (std::uint32_t i = 0; i < node(output).nodes; ++i) flow_.memories.join(output + i, source + i);
      flow_.aliased.push_back(output);
    }
  }

  const TextModule& module_;
  ShapeSizes& sizes_;
  ValueFlow flow_;
  std::vector<bool> is_walked_;  // By computation.
  std::unordered_map<std::string_view, std::uint32_t> computations_;
  std::unordered_map<std::uint64_t, std::uint32_t> parameters_;  // By computation and number.
  std::unordered_map<std::uint32_t, std::uint32_t> updated_;     // find_updated, by instruction.
};

}  // namespace

ShapeSizes::ShapeSizes(const TextModule& module)
    : module_(module), is_tpu_(std::any_of(module.nodes.begin(), module.nodes.end(), [](const ShapeNode& node) {
        return !node.is_tuple && node.text.find(":T(") != std::string_view::npos;
      })) {}

const ShapeSize& ShapeSizes::of(std::uint32_t node) {
  const ShapeNode& shape = module_.nodes[node];
  const auto [place, is_new] = sizes_.try_emplace(shape.text);
  if (is_new) place->second = compute(shape);
  return place->second;
}

ShapeSize ShapeSizes::compute(const ShapeNode& node) const {
  constexpr std::uint64_t bytes_end = std::uint64_t{1} << 45;
  if (node.is_tuple) {
    const std::uint64_t parts = node.parts_end - node.parts_begin;
    constexpr std::uint64_t pointer = 8, tpu_pointer = 4, tpu_granularity = 32;
    const std::uint64_t rounded = (parts * tpu_pointer + tpu_granularity - 1) / tpu_granularity * tpu_granularity;
    return {is_tpu_ ? rounded : parts * pointer, 0, true};
  }
  if (node.text.starts_with("token[") || node.text.starts_with("opaque[")) return {};
  const auto shape = allocator::tpu::parse_shape(node.text);
  if (!shape) return {0, 0, false};
  const auto bytes = allocator::tpu::compute_padded_bytes(*shape);
  const bool is_known = bytes && *bytes < bytes_end;
  return {is_known ? *bytes : 0, shape->layout ? shape->layout->memory_space : 0, is_known};
}

ValueFlow compute_value_flow(const TextModule& module, ShapeSizes& sizes) {
  return FlowMaker(module, sizes).make();
}

}  // namespace hbmscope::hlo
