#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/read/tpu_workload/workload_scope.h"

namespace hbmscope::tpu_workload {
namespace {

class StepsReader {
 public:
  explicit StepsReader(Scope& scope) : scope_(scope) {}

  void read(const Node& list, const Variables& variables) {
    for (const Node& node : list.items()) {
      node.allow_only({"put", "as", "run", "with", "free", "mark", "for", "reverse", "if", "steps", "may_fail"});
      for_each_turn(node, variables, [&](const Variables& turn) {
        if (++turns_ > turns_most) node.fail("the steps have too many turns", fmt::format("At most {}.", turns_most));
        const auto condition = node.find("if");
        if (!condition || condition->number(turn) != 0) take(node, turn);
      });
    }
  }

 private:
  void take(const Node& node, const Variables& variables) {
    const auto inner = node.find("steps"), put = node.find("put"), run = node.find("run"), free = node.find("free"),
               mark = node.find("mark");
    const int given = (inner ? 1 : 0) + (put ? 1 : 0) + (run ? 1 : 0) + (free ? 1 : 0) + (mark ? 1 : 0);
    if (given != 1) node.fail("a step is one thing", "Write one of put, run, free, mark, steps.");
    if (inner) read(*inner, variables);
    if (put) read_put(node, *put, variables);
    if (run) read_run(node, *run, variables);
    if (free) read_free(*free, variables);
    if (mark) add({tpu::StepKind::mark, mark->filled_in(variables), 0, false, {}}, *mark);
  }

  void add(tpu::Step step, const Node& node) {
    if (scope_.workload.steps.size() >= expanded_most)
      node.fail("there are too many steps", fmt::format("At most {}.", expanded_most));
    scope_.workload.steps.push_back(std::move(step));
  }

  static bool may_fail(const Node& node) {
    const auto flag = node.find("may_fail");
    return flag && flag->flag();
  }

  // One name, or several.
  static std::vector<Node> names_of(const Node& node) { return node.is_list() ? node.items() : std::vector{node}; }

  void read_put(const Node& node, const Node& put, const Variables& variables) {
    const auto as = node.find("as");
    const std::vector<Node> names = names_of(put);
    if (as && names.size() != 1) as->fail("one name for several arrays", "Write a step for each.");
    for (const Node& name : names) {
      const Node* declared = scope_.find_array(name.text());
      if (declared == nullptr)
        name.fail(fmt::format("there is no array '{}'", name.text()), "Declare it in \"arrays\".");
      const std::uint32_t array = array_of(*declared, name.text(), variables);
      const std::string on_device = as ? as->filled_in(variables) : name.text();
      on_device_[on_device] = scope_.workload.arrays[array].shard.shape;
      add({tpu::StepKind::put, on_device, array, may_fail(node), {}}, name);
    }
  }

  // Arrays of equal shape are stored once.
  std::uint32_t array_of(const Node& declared, const std::string& name, const Variables& variables) {
    tpu::Array array = read_array(declared, name, scope_, variables, false);
    const auto [found, is_new] = arrays_.emplace(std::pair(name, tpu::text_of(array.spec)),
                                                 static_cast<std::uint32_t>(scope_.workload.arrays.size()));
    if (is_new) scope_.workload.arrays.push_back(std::move(array));
    return found->second;
  }

  void read_run(const Node& node, const Node& run, const Variables& variables) {
    const auto& programs = scope_.workload.programs;
    const auto program = std::find_if(programs.begin(), programs.end(),
                                      [&](const tpu::Program& each) { return each.name == run.text(); });
    if (program == programs.end())
      run.fail(fmt::format("there is no program '{}'", run.text()), "Describe it in \"programs\".");
    tpu::Step step;
    step.kind = tpu::StepKind::run;
    step.name = run.text();
    step.of = static_cast<std::uint32_t>(program - programs.begin());
    step.may_fail = may_fail(node);
    if (const auto with = node.find("with"))
      for (const auto& [name, value] : with->members()) step.with.emplace_back(name, value.filled_in(variables));
    check_arguments(run, *program, step);
    add(std::move(step), run);
  }

  void check_arguments(const Node& run, const tpu::Program& program, const tpu::Step& step) {
    const auto name_of = [&](const std::string& name) {
      const auto found =
          std::find_if(step.with.begin(), step.with.end(), [&](const auto& each) { return each.first == name; });
      return found == step.with.end() ? name : found->second;
    };
    for (const tpu::Value& value : program.values) {
      if (value.role != tpu::Role::argument) continue;
      const auto found = on_device_.find(name_of(value.binds));
      if (found == on_device_.end())
        run.fail(fmt::format("'{}' was never put on the device", name_of(value.binds)),
                 fmt::format("A step before this one has to: {{\"put\": \"{}\"}}.", value.binds));
      if (found->second != value.array.shard.shape)
        run.fail(fmt::format("'{}' is {} and the program takes {}", name_of(value.binds),
                             tpu::text_from_shape(found->second), tpu::text_from_shape(value.array.shard.shape)));
    }
    for (const tpu::Value& value : program.values)
      if (value.role == tpu::Role::output) on_device_[name_of(value.binds)] = value.array.shard.shape;
  }

  void read_free(const Node& free, const Variables& variables) {
    for (const Node& node : names_of(free)) {
      const std::string name = node.filled_in(variables);
      if (on_device_.count(name) == 0)
        node.fail(fmt::format("'{}' was never put on the device", name), "Name what a step before this one put there.");
      add({tpu::StepKind::free, name, 0, false, {}}, node);
    }
  }

  static constexpr std::size_t turns_most = 10 * expanded_most;  // Includes turns without effect.

  Scope& scope_;
  std::size_t turns_ = 0;
  std::map<std::string, tpu::Shape> on_device_;  // All arrays ever put there, by name.
  std::map<std::pair<std::string, std::string>, std::uint32_t> arrays_;
};

}  // namespace

void read_steps(const Node& root, Scope& scope) {
  StepsReader(scope).read(root.at("steps"), scope.parameters);
}

}  // namespace hbmscope::tpu_workload
