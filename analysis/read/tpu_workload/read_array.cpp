#include <algorithm>

#include <fmt/format.h>

#include "allocator/emulated/tpu/default_layout.h"
#include "analysis/read/tpu_workload/workload_scope.h"

namespace hbmscope::tpu_workload {
namespace {

std::vector<std::vector<std::string>> read_sharding(const Node& node) {
  std::vector<std::vector<std::string>> sharding;
  for (const Node& entry : node.items()) {
    auto& axes = sharding.emplace_back();
    if (entry.is_null()) continue;
    if (entry.is_text()) {
      axes.push_back(entry.text());
      continue;
    }
    for (const Node& axis : entry.items()) axes.push_back(axis.text());
  }
  return sharding;
}

tpu::Place read_place(const Node& node) {
  const std::string& text = node.text();
  if (text == "hbm") return tpu::Place::hbm;
  if (text == "vmem") return tpu::Place::vmem;
  if (text == "cmem") return tpu::Place::cmem;
  if (text == "host") return tpu::Place::host;
  if (text == "sparse_core") return tpu::Place::sparse_core;
  node.fail(fmt::format("there is no memory '{}'", text), "Known: hbm, vmem, cmem, host, sparse_core.");
}

void run_loops(const std::vector<std::pair<std::string, Node>>& loops, std::size_t depth, bool is_reversed,
               Variables& variables, std::size_t& turns, const std::function<void(const Variables&)>& visit) {
  if (depth == loops.size()) {
    visit(variables);
    return;
  }
  const std::uint64_t count = loops[depth].second.number_from(0, variables);
  if (count > expanded_most)
    loops[depth].second.fail(fmt::format("a loop of {} turns", count), fmt::format("At most {}.", expanded_most));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (++turns > expanded_most) loops[depth].second.fail("the loops have too many turns");
    variables.push_back({loops[depth].first, static_cast<std::int64_t>(is_reversed ? count - 1 - i : i)});
    run_loops(loops, depth + 1, is_reversed, variables, turns, visit);
    variables.pop_back();
  }
}

// jax refuses arguments whose dimensions are not divisible (IndivisibleError).
void check_even(const Node& node, const tpu::ArraySpec& spec, const tpu::Mesh& mesh) {
  for (std::size_t i = 0; i < spec.sharding.size(); ++i) {
    std::uint64_t parts = 1;
    for (const std::string& name : spec.sharding[i])
      for (const tpu::MeshAxis& axis : mesh.axes)
        if (axis.name == name) parts *= axis.size;
    if (spec.dimensions[i] % parts == 0) continue;
    node.fail(
        fmt::format("jax refuses this sharding: the global size of its dimension {} should be divisible by {}, but "
                    "it is equal to {} (full shape: {})",
                    i, parts, spec.dimensions[i], tpu::text_of(spec)),
        "Pad the dimension, or leave it whole; values inside of a program may be uneven.");
  }
}

}  // namespace

const Node* Scope::find_array(const std::string& name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const auto& each) { return each.first == name; });
  return found == arrays.end() ? nullptr : &found->second;
}

std::uint32_t Scope::line_of(const Node& node) const {
  const auto [found, is_new] = lines_.emplace(node.path(), 0);
  if (is_new) found->second = static_cast<std::uint32_t>(find_line(text, node.path()));
  return found->second;
}

void for_each_turn(const Node& node, const Variables& variables, const std::function<void(const Variables&)>& visit) {
  const auto loops = node.find("for");
  const auto reverse = node.find("reverse");
  if (!loops && reverse) reverse->fail("nothing is repeated here", "It belongs to \"for\".");
  Variables inner = variables;
  std::size_t turns = 0;
  run_loops(loops ? loops->members() : std::vector<std::pair<std::string, Node>>(), 0, reverse && reverse->flag(),
            inner, turns, visit);
}

const tpu::ElementType& read_type(const Node& node) {
  const tpu::ElementType* type = tpu::find_element_type(node.text());
  if (type == nullptr)
    node.fail(fmt::format("there is no element type '{}'", node.text()), "Write it as XLA does: f32, bf16, s8, pred.");
  return *type;
}

std::vector<std::uint64_t> read_shape(const Node& node, const Variables& variables) {
  std::vector<std::uint64_t> sizes;
  for (const Node& size : node.items()) sizes.push_back(size.number_from(1, variables));
  constexpr std::size_t rank_max = 16;
  if (sizes.size() > rank_max) node.fail(fmt::format("{} dimensions", sizes.size()), "At most 16.");
  return sizes;
}

tpu::Array read_array(const Node& node, const std::string& name, const Scope& scope, const Variables& variables,
                      bool may_be_uneven) {
  tpu::Array array;
  array.name = name;
  array.line = scope.line_of(node);
  array.spec.type = &read_type(node.at("dtype"));
  array.spec.dimensions = read_shape(node.at("shape"), variables);
  if (const auto sharding = node.find("sharding")) array.spec.sharding = read_sharding(*sharding);
  if (const auto memory = node.find("memory")) array.spec.place = read_place(*memory);
  if (array.spec.place == tpu::Place::sparse_core && array.spec.dimensions.empty())
    node.at("memory").fail("a scalar has no rows for SparseCore");
  if (array.spec.place == tpu::Place::cmem && scope.workload.generation->cmem.value == 0)
    node.at("memory").fail(fmt::format("{} has no CMEM", scope.workload.generation->name), "v4 has.");
  auto shard = tpu::shard_of(array.spec, scope.workload.mesh, *scope.workload.generation);
  if (!shard) node.fail(shard.error());
  if (!may_be_uneven && shard->is_uneven) check_even(node, array.spec, scope.workload.mesh);
  array.shard = std::move(*shard);
  return array;
}

tpu::Shape tiled_shape(const Node& node, const tpu::ElementType& type, const std::vector<std::uint64_t>& sizes,
                       const tpu::Generation& generation) {
  tpu::Shape shape;
  shape.type = &type;
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape.dimensions.push_back({sizes[i], false});
    order.insert(order.begin(), static_cast<std::uint32_t>(i));
  }
  shape.layout = tpu::default_tiles(generation, type, shape.dimensions, order, tpu::SecondMinor::as_compiled);
  padded_bytes(node, shape);
  return shape;
}

std::uint64_t padded_bytes(const Node& node, const tpu::Shape& shape) {
  const auto bytes = tpu::compute_padded_bytes(shape);
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (!bytes || *bytes > most) node.fail("it has more bytes than any such memory");
  return *bytes;
}

}  // namespace hbmscope::tpu_workload
