#include "analysis/query/block_labels.h"

#include <array>
#include <charconv>

namespace hbmscope {
namespace {

constexpr std::array<std::string_view, category_count> texts{
    "other", "parameters", "gradients", "optimizer state", "activations", "inputs", "temporaries"};

Category category_from_text(std::string_view text) {
  for (std::size_t i = 1; i < texts.size(); ++i)
    if (texts[i] == text) return static_cast<Category>(i);
  return Category::unknown;
}

// "f32[8,4] from the host"
constexpr std::string_view from_host = " from the host";

// PyTorch's functions, Python's and native ones.
Category category_of_frame(std::string_view function, std::string_view file) {
  if (file.find("/torch/optim/") != std::string_view::npos) return Category::temporaries;
  if (function.starts_with("torch::autograd::Engine::") ||
      (function.ends_with("backward") && file.find("/torch/") != std::string_view::npos))
    return Category::temporaries;
  const bool is_forward = function == "forward" || function.ends_with(".forward") ||
                          file.find("/torch/nn/functional.py") != std::string_view::npos;
  return is_forward ? Category::activations : Category::unknown;
}

}  // namespace

std::string_view text_from_category(Category category) {
  return texts[static_cast<std::size_t>(category)];
}

BlockLabels::BlockLabels(const Stream& stream) : definitions_(stream.definitions()) {
  std::unordered_map<std::uint64_t, Site> sites;  // Allocations with a category.
  for (const Attribute& attribute : stream.attributes().rows()) {
    const std::string_view key = definitions_.text(attribute.key);
    if (key == "array") {
      labels_[attribute.allocation].array = attribute.value;
    } else if (key == "name") {
      labels_[attribute.allocation].name = attribute.value;
      has_names_ = true;
    } else if (key == "held by") {
      labels_[attribute.allocation].holder = attribute.value;
    } else if (key == "autograd graph") {
      const std::string_view steps = definitions_.text(attribute.value);
      std::from_chars(steps.data(), steps.data() + steps.size(), labels_[attribute.allocation].graph_steps);
    } else if (key == "category") {
      labels_[attribute.allocation].category = category_from_text(definitions_.text(attribute.value));
      if (attribute.stack != 0 && attribute.size != 0) sites[attribute.allocation] = {attribute.stack, attribute.size};
      has_categories_ = true;
    }
  }
  for (const auto& [allocation, label] : labels_) {
    if (label.array != 0 && label.name != 0) names_of_arrays_[label.array].add(label.name);
    if (label.array != 0 && label.holder != 0) holders_of_arrays_[label.array].add(label.holder);
    if (label.category == Category::unknown) continue;
    if (label.array != 0) categories_of_arrays_[label.array].add(label.category);
    if (const auto site = sites.find(allocation); site != sites.end())
      categories_of_sites_[site->second].add(label.category);
  }
  find_programs();
  if (has_categories_) classify_stacks();
}

// "jit_train_step" of "f32[8,4] output 3 of jit_train_step": the tag of its other blocks.
void BlockLabels::find_programs() {
  constexpr std::string_view before_name = " of ";
  std::unordered_set<std::string_view> names;
  std::unordered_set<std::uint32_t> seen;
  for (const auto& [allocation, label] : labels_) {
    if (label.array == 0 || !seen.insert(label.array).second) continue;
    const std::string_view array = text(label.array);
    if (const auto at = array.rfind(before_name); at != std::string_view::npos)
      names.insert(array.substr(at + before_name.size()));
  }
  if (names.empty()) return;
  for (std::uint32_t id = 1; id < definitions_.next_string(); ++id)
    if (names.contains(definitions_.text(id))) programs_.insert(id);
}

// The innermost frame that says something decides. A stack's callers have smaller ids.
void BlockLabels::classify_stacks() {
  categories_of_stacks_.resize(definitions_.stack_count(), Category::unknown);
  for (std::uint32_t i = 1; i < categories_of_stacks_.size(); ++i) {
    const TraceStack stack = definitions_.stack(i);
    const TraceFrame frame = definitions_.frame(stack.frame);
    Category& category = categories_of_stacks_[i];
    category = category_of_frame(definitions_.text(frame.function), definitions_.text(frame.file));
    if (category == Category::unknown && stack.parent < i) category = categories_of_stacks_[stack.parent];
  }
}

const BlockLabels::Label& BlockLabels::label_of(std::uint64_t allocation) const {
  static constexpr Label none;
  const auto found = labels_.find(allocation);
  return found == labels_.end() ? none : found->second;
}

std::string_view BlockLabels::name(std::uint64_t allocation) const {
  const Label& label = label_of(allocation);
  if (label.name != 0 || label.array == 0) return text(label.name);
  const auto others = names_of_arrays_.find(label.array);
  return others == names_of_arrays_.end() ? std::string_view() : text(others->second.get());
}

std::string_view BlockLabels::holder(std::uint64_t allocation) const {
  const Label& label = label_of(allocation);
  if (label.holder != 0 || label.array == 0) return text(label.holder);
  const auto others = holders_of_arrays_.find(label.array);
  return others == holders_of_arrays_.end() ? std::string_view() : text(others->second.get());
}

Category BlockLabels::category(const LiveBlock& block) const {
  const Label& label = label_of(block.event);
  if (label.category != Category::unknown) return label.category;
  if (const auto found = categories_of_arrays_.find(label.array);
      label.array != 0 && found != categories_of_arrays_.end())
    return found->second.get();
  if (label.array == 0 && programs_.contains(block.tag)) return Category::temporaries;
  if (text(label.array).ends_with(from_host)) return Category::inputs;
  if (label.array != 0) return Category::unknown;
  if (const auto found = categories_of_sites_.find({block.stack, block.size});
      block.stack != 0 && found != categories_of_sites_.end() && found->second.get() != Category::unknown)
    return found->second.get();
  return block.stack < categories_of_stacks_.size() ? categories_of_stacks_[block.stack] : Category::unknown;
}

std::string BlockLabels::title(std::uint64_t allocation) const {
  const std::string_view given = name(allocation), what = array(allocation);
  if (given.empty()) return std::string(what);
  if (what.empty()) return std::string(given);
  return std::string(given) + " " + std::string(what.substr(0, what.find(' ')));
}

std::vector<BlockLabels> labels_of(const Trace& trace) {
  std::vector<BlockLabels> labels;
  labels.reserve(trace.streams.size());
  for (const Stream& stream : trace.streams) labels.emplace_back(stream);
  return labels;
}

}  // namespace hbmscope
