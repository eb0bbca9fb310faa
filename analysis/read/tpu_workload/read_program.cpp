#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/read/tpu_workload/workload_scope.h"

namespace hbmscope::tpu_workload {
namespace {

class ProgramReader {
 public:
  ProgramReader(const Node& node, const std::string& name, Scope& scope) : node_(node), scope_(scope) {
    program_.name = name;
  }

  tpu::Program run() {
    node_.allow_only({"arguments", "donate", "weights", "outputs", "temporaries", "operations", "code_bytes"});
    for (const Node& name : node_.at("arguments").items()) add_argument(name);
    if (const auto donate = node_.find("donate"))
      for (const Node& name : donate->items()) argument(name, "can be donated").is_donated = true;
    if (const auto weights = node_.find("weights")) {
      for (tpu::Value& value : program_.values) value.may_stay = false;
      for (const Node& name : weights->items()) argument(name, "stay from run to run").may_stay = true;
    }
    if (const auto outputs = node_.find("outputs"))
      for (const auto& [value, of] : outputs->members()) add_output(value, of);
    if (const auto temporaries = node_.find("temporaries"))
      for (const auto& [name, spec] : temporaries->members()) add_temporaries(name, spec);
    if (const auto code = node_.find("code_bytes"))
      if (!code->is_null()) program_.code_bytes = code->number_from(0, scope_.parameters);
    const Node operations = node_.at("operations");
    add_operations(operations, scope_.parameters);
    for (std::uint32_t i = 0; i < program_.values.size(); ++i)
      if (program_.values[i].role != tpu::Role::argument && !is_written_[i])
        nodes_[i]->fail(fmt::format("nothing writes '{}'", program_.values[i].array.name),
                        "Name it in \"writes\" of an operation.");
    return std::move(program_);
  }

 private:
  void add_value(tpu::Value value, const Node& node) {
    const std::string name = value.array.name;
    if (!numbers_.emplace(name, static_cast<std::uint32_t>(program_.values.size())).second)
      node.fail(fmt::format("there are two values '{}'", name),
                "An output has a name of its own: {\"params_new\": \"params\"}.");
    if (program_.values.size() >= expanded_most) node.fail("there are too many values");
    program_.values.push_back(std::move(value));
    nodes_.push_back(node);
    is_written_.push_back(false);
  }

  const Node& declared(const Node& name) const {
    const Node* array = scope_.find_array(name.text());
    if (array == nullptr) name.fail(fmt::format("there is no array '{}'", name.text()), "Declare it in \"arrays\".");
    return *array;
  }

  void add_argument(const Node& name) {
    tpu::Value value;
    value.role = tpu::Role::argument;
    value.binds = name.text();
    value.array = read_array(declared(name), name.text(), scope_, scope_.parameters, false);
    add_value(std::move(value), name);
    is_written_.back() = true;
  }

  // An argument; all are read before outputs and temporaries.
  tpu::Value& argument(const Node& name, const char* what) {
    const auto found = numbers_.find(name.text());
    if (found == numbers_.end())
      name.fail(fmt::format("'{}' is no argument", name.text()), fmt::format("Only arguments {}.", what));
    return program_.values[found->second];
  }

  // As in jax: an output that is not divisible is replicated on every device, whatever its annotation.
  void add_output(const std::string& name, const Node& of) {
    tpu::Value value;
    value.role = tpu::Role::output;
    value.binds = of.text();
    value.array = read_array(declared(of), name, scope_, scope_.parameters, true);
    if (value.array.shard.is_uneven) {
      value.array.spec.sharding.clear();
      value.array.shard = *tpu::shard_of(value.array.spec, scope_.workload.mesh, *scope_.workload.generation);
    }
    add_value(std::move(value), of);
  }

  void add_temporaries(const std::string& name, const Node& spec) {
    spec.allow_only({"dtype", "shape", "sharding", "memory", "for", "reverse"});
    for_each_turn(spec, scope_.parameters, [&](const Variables& variables) {
      const auto filled = fill_in(name, variables);
      if (!filled) spec.fail(filled.error());
      tpu::Value value;
      value.array = read_array(spec, *filled, scope_, variables, true);
      if (value.array.spec.place == tpu::Place::sparse_core)
        spec.at("memory").fail("a temporary is no table of SparseCore", "Declare it in \"arrays\".");
      add_value(std::move(value), spec);
    });
  }

  void add_operations(const Node& list, const Variables& variables) {
    for (const Node& node : list.items()) {
      if (const auto inner = node.find("operations")) {
        node.allow_only({"for", "reverse", "operations"});
        for_each_turn(node, variables, [&](const Variables& turn) { add_operations(*inner, turn); });
        continue;
      }
      node.allow_only(
          {"name", "reads", "writes", "segment", "dot", "in_place", "pipeline", "compute_ns", "for", "reverse"});
      for_each_turn(node, variables, [&](const Variables& turn) { add_operation(node, turn); });
    }
  }

  std::vector<std::uint32_t> values_of(const Node& operation, const char* key, const Variables& variables) const {
    std::vector<std::uint32_t> values;
    const auto list = operation.find(key);
    if (!list) return values;
    for (const Node& node : list->items()) {
      const std::string name = node.filled_in(variables);
      const auto found = numbers_.find(name);
      if (found == numbers_.end())
        node.fail(fmt::format("the program has no value '{}'", name),
                  "Name it in \"arguments\", \"outputs\" or \"temporaries\".");
      values.push_back(found->second);
    }
    return values;
  }

  void add_operation(const Node& node, const Variables& variables) {
    if (++scope_.operations > expanded_most)
      node.fail("there are too many operations", fmt::format("At most {}.", expanded_most));
    tpu::Operation operation;
    operation.name = node.at("name").filled_in(variables);
    if (const auto segment = node.find("segment")) operation.segment = segment->filled_in(variables);
    if (const auto dot = node.find("dot")) operation.is_dot = dot->flag();
    if (const auto in_place = node.find("in_place")) operation.writes_in_place = in_place->flag();
    operation.reads = values_of(node, "reads", variables);
    operation.writes = values_of(node, "writes", variables);
    if (const auto compute = node.find("compute_ns")) operation.compute_ns = compute->number_from(0, variables);
    if (const auto pipeline = node.find("pipeline")) operation.pipeline = pipeline_of(*pipeline);
    for (const std::uint32_t value : operation.reads)
      if (!is_written_[value])
        node.at("reads").fail(fmt::format("'{}' is read before anything writes it", program_.values[value].array.name),
                              "Operations stand in the order in which they run.");
    for (const std::uint32_t value : operation.writes) {
      if (program_.values[value].role == tpu::Role::argument)
        node.at("writes").fail(
            fmt::format("'{}' is an argument", program_.values[value].array.name),
            "An output that takes its place has a name of its own, and \"donate\" names the argument.");
      is_written_[value] = true;
    }
    program_.operations.push_back(std::move(operation));
  }

  std::uint32_t pipeline_of(const Node& node) const {
    const auto& pipelines = scope_.workload.pipelines;
    const auto found = std::find_if(pipelines.begin(), pipelines.end(),
                                    [&](const tpu::Pipeline& each) { return each.name == node.text(); });
    if (found == pipelines.end())
      node.fail(fmt::format("there is no pipeline '{}'", node.text()), "Describe it in \"pipelines\".");
    return static_cast<std::uint32_t>(found - pipelines.begin());
  }

  const Node& node_;
  Scope& scope_;
  tpu::Program program_;
  std::map<std::string, std::uint32_t> numbers_;  // Value numbers by name.
  std::vector<std::optional<Node>> nodes_;        // By value.
  std::vector<bool> is_written_;
};

}  // namespace

void read_programs(const Node& root, Scope& scope) {
  const auto programs = root.find("programs");
  if (!programs) return;
  for (const auto& [name, node] : programs->members())
    scope.workload.programs.push_back(ProgramReader(node, name, scope).run());
}

}  // namespace hbmscope::tpu_workload
