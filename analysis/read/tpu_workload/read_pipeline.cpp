#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/read/tpu_workload/workload_scope.h"

namespace hbmscope::tpu_workload {
namespace {

constexpr std::uint32_t buffers_max = 64;
constexpr std::uint64_t step_ns_max = 1'000'000'000;

class PipelineReader {
 public:
  PipelineReader(const Node& node, const std::string& name, Scope& scope) : node_(node), scope_(scope) {
    pipeline_.name = name;
  }

  tpu::Pipeline run() {
    node_.allow_only({"grid", "operands", "scratch", "scoped_limit_bytes", "compute_ns"});
    read_grid();
    for (const Node& operand : node_.at("operands").items()) pipeline_.operands.push_back(read_operand(operand));
    if (pipeline_.operands.empty()) node_.at("operands").fail("there is no operand");
    if (const auto scratch = node_.find("scratch"))
      for (const Node& each : scratch->items()) pipeline_.scratch.push_back(read_scratch(each));
    if (const auto limit = node_.find("scoped_limit_bytes"))
      pipeline_.scoped_limit_bytes = limit->number_from(1, scope_.parameters);
    if (const auto compute = node_.find("compute_ns"))
      pipeline_.compute_ns = std::min(compute->number_from(0, scope_.parameters), step_ns_max);
    return std::move(pipeline_);
  }

 private:
  // Row-major: the last dimension of the grid changes fastest.
  void read_grid() {
    const Node grid = node_.at("grid");
    pipeline_.steps = 1;
    for (const auto& [name, size] : grid.members()) {
      grid_.push_back({name, static_cast<std::int64_t>(size.number_from(1, scope_.parameters))});
      const auto count = static_cast<std::uint64_t>(grid_.back().value);
      if (count > expanded_most || pipeline_.steps * count > expanded_most)
        size.fail("the grid has too many steps", fmt::format("At most {}.", expanded_most));
      pipeline_.steps *= count;
    }
  }

  const tpu::Generation& generation() const { return *scope_.workload.generation; }

  tpu::PipelineOperand read_operand(const Node& node) const {
    node.allow_only({"name", "dtype", "shape", "block", "index", "output", "buffers", "lookahead", "memory"});
    tpu::PipelineOperand operand;
    operand.name = node.at("name").text();
    const tpu::ElementType& type = read_type(node.at("dtype"));
    const std::vector<std::uint64_t> shape = read_shape(node.at("shape"), scope_.parameters);
    if (const auto output = node.find("output")) operand.is_output = output->flag();
    if (const auto lookahead = node.find("lookahead")) operand.has_lookahead = lookahead->flag();
    if (operand.is_output && operand.has_lookahead)
      node.at("lookahead").fail("outputs have no lookahead", "It is of inputs only.");
    const auto memory = node.find("memory");
    if (memory && memory->text() != "vmem" && memory->text() != "smem")
      memory->fail(fmt::format("an operand is in no memory '{}'", memory->text()), "Known: vmem, smem.");
    operand.is_scalar = memory && memory->text() == "smem";
    if (operand.is_scalar) {
      if (operand.is_output) node.at("output").fail("prefetched scalars are no output");
      operand.block = tiled_shape(node, type, shape, generation());
      operand.block_bytes = padded_bytes(node, operand.block);
      operand.buffers = 1;
      return operand;
    }
    read_blocks(node, type, shape, operand);
    return operand;
  }

  void read_blocks(const Node& node, const tpu::ElementType& type, const std::vector<std::uint64_t>& shape,
                   tpu::PipelineOperand& operand) const {
    const Node block_node = node.at("block");
    std::vector<std::uint64_t> block, kept;  // By dimension; `kept`: those that the kernel sees.
    for (const Node& size : block_node.items()) {
      block.push_back(size.is_null() ? 1 : size.number_from(1, scope_.parameters));
      if (!size.is_null()) kept.push_back(block.back());
    }
    if (block.size() != shape.size())
      block_node.fail(fmt::format("a block of {} dimensions of an array of {}", block.size(), shape.size()),
                      "One size for each dimension; null: one, left out of the block.");
    check_block(block_node, block, shape);
    operand.block = tiled_shape(block_node, type, kept, generation());
    operand.block_bytes = padded_bytes(block_node, operand.block);
    const bool is_whole = block == shape;
    operand.buffers = is_whole ? 1 : 2;
    if (const auto buffers = node.find("buffers"))
      operand.buffers = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(buffers->number_from(1, scope_.parameters), buffers_max + 1));
    if (scope_.buffers && !is_whole) operand.buffers = *scope_.buffers;
    if (operand.buffers > buffers_max) node.fail("there are too many buffers", fmt::format("At most {}.", buffers_max));
    read_index(node.at("index"), block, shape, operand);
  }

  // As Pallas' lowering requires.
  void check_block(const Node& node, const std::vector<std::uint64_t>& block,
                   const std::vector<std::uint64_t>& shape) const {
    const std::uint64_t multiples[] = {generation().lanes.value, generation().sublanes.value};
    for (std::size_t i = 0; i < std::min<std::size_t>(2, block.size()); ++i) {
      const std::size_t dimension = block.size() - 1 - i;
      if (block[dimension] % multiples[i] == 0 || block[dimension] == shape[dimension]) continue;
      node.fail(
          fmt::format("the Pallas TPU lowering requires that the last two dimensions of a block shape are divisible "
                      "by {} and {} respectively, or be equal to the respective dimensions of the overall array; "
                      "{} is neither",
                      multiples[1], multiples[0], block[dimension]),
          "Choose another block.");
    }
  }

  void read_index(const Node& node, const std::vector<std::uint64_t>& block, const std::vector<std::uint64_t>& shape,
                  tpu::PipelineOperand& operand) const {
    const std::vector<Node> formulas = node.items();
    if (formulas.size() != shape.size())
      node.fail(fmt::format("{} indices of an array of {} dimensions", formulas.size(), shape.size()));
    std::map<std::vector<std::uint64_t>, std::uint32_t> numbers;
    Variables variables = scope_.parameters;
    const std::size_t first = variables.size();
    for (const Variable& each : grid_) variables.push_back({each.name, 0});
    for (std::uint64_t step = 0; step < pipeline_.steps; ++step) {
      std::uint64_t rest = step;
      for (std::size_t i = grid_.size(); i-- > 0;) {
        const auto size = static_cast<std::uint64_t>(grid_[i].value);
        variables[first + i].value = static_cast<std::int64_t>(rest % size);
        rest /= size;
      }
      std::vector<std::uint64_t> index;
      for (std::size_t i = 0; i < formulas.size(); ++i) {
        index.push_back(formulas[i].number_from(0, variables));
        if (index.back() * block[i] >= shape[i])
          formulas[i].fail(
              fmt::format("block {} begins behind the end of dimension {}, which is {}", index.back(), i, shape[i]),
              "Indices count blocks, not elements.");
      }
      const auto [found, is_new] = numbers.emplace(index, static_cast<std::uint32_t>(numbers.size()));
      if (is_new) operand.block_names.push_back(name_of(index));
      operand.block_of_step.push_back(found->second);
    }
  }

  static std::string name_of(const std::vector<std::uint64_t>& index) {
    std::string name = "[";
    for (const std::uint64_t each : index) name += fmt::format("{}{}", name.size() > 1 ? "," : "", each);
    return name + "]";
  }

  tpu::Scratch read_scratch(const Node& node) {
    node.allow_only({"name", "dtype", "shape", "memory"});
    tpu::Scratch scratch;
    scratch.name = node.at("name").text();
    const tpu::ElementType& type = read_type(node.at("dtype"));
    const std::vector<std::uint64_t> sizes = read_shape(node.at("shape"), scope_.parameters);
    if (const auto memory = node.find("memory")) scratch.place = read_scratch_place(*memory);
    scratch.shape = tiled_shape(node, type, sizes, generation());
    if (scratch.place == tpu::ScratchPlace::tile_spmem) scratch.shape.layout->tiles.clear();  // It has no tiles.
    scratch.bytes = padded_bytes(node, scratch.shape);
    if (scratch.place != tpu::ScratchPlace::accumulator) return scratch;
    // Scratch that does not fit goes to VMEM, as on generations whose accumulator size is not published.
    if (scratch.bytes > generation().accumulators.value - accumulator_bytes_)
      scratch.place = tpu::ScratchPlace::vmem;
    else
      accumulator_bytes_ += scratch.bytes;
    return scratch;
  }

  // If the size of the accumulators is published, they are a separate memory; otherwise they are Pallas scratch in
  // VMEM.
  tpu::ScratchPlace read_scratch_place(const Node& node) const {
    if (node.text() == "vmem") return tpu::ScratchPlace::vmem;
    if (node.text() == "smem") return tpu::ScratchPlace::smem;
    if (node.text() == "accumulator")
      return generation().accumulators.known() ? tpu::ScratchPlace::accumulator : tpu::ScratchPlace::vmem;
    if (node.text() != "tile_spmem")
      node.fail(fmt::format("a kernel has no memory '{}'", node.text()), "Known: vmem, smem, accumulator, tile_spmem.");
    if (!generation().sparse_subcore_vmem.known())
      node.fail(fmt::format("the memory of {}'s SparseCores is not published", generation().name),
                "hbmscope tpu generations lists those that have one.");
    return tpu::ScratchPlace::tile_spmem;
  }

  const Node& node_;
  Scope& scope_;
  tpu::Pipeline pipeline_;
  Variables grid_;  // Names and sizes.
  std::uint64_t accumulator_bytes_ = 0;
};

}  // namespace

void read_pipelines(const Node& root, Scope& scope) {
  const auto pipelines = root.find("pipelines");
  if (!pipelines) return;
  for (const auto& [name, node] : pipelines->members())
    scope.workload.pipelines.push_back(PipelineReader(node, name, scope).run());
}

}  // namespace hbmscope::tpu_workload
