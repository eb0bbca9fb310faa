#include "analysis/query/read_place.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/query/own_frame.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/units/utf8.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

// Operations whose result is as large as the values say, by their names in PyTorch and in JAX.
// clang-format off
constexpr std::string_view sizing_operations[] = {
    "nonzero", "argwhere", "flatnonzero", "where", "masked_select", "unique", "unique_dim", "unique_consecutive",
    "unique_values", "unique_counts", "unique_all", "unique_inverse", "repeat_interleave", "repeat", "bincount",
    "one_hot", "compress", "extract", "coalesce", "to_sparse", "union1d", "intersect1d", "setdiff1d", "setxor1d",
    "trim_zeros", "expand_bool_indices"};
// clang-format on

bool is_sizing(std::string_view operation) {
  return std::find(std::begin(sizing_operations), std::end(sizing_operations), operation) !=
         std::end(sizing_operations);
}

// Names that say more to a reader; of copies, the ways into them.
constexpr std::pair<std::string_view, std::string_view> torch_names[] = {
    {"local_scalar_dense", "item"}, {"unique2", "unique"}, {"nonzero_numpy", "nonzero"},
    {"is_nonzero", "bool"},         {"to", "copy"},        {"to_dtype_layout", "copy"},
    {"to_device", "copy"},          {"to_copy", "copy"},   {"copy_", "copy"}};

// "at::_ops::_unique2::call(at::Tensor const&, ...)" -> "unique", "at::_ops::index_Tensor::call(...)" -> "index",
// without the name of the overload. Empty if it is no operation of PyTorch.
// A dry run's own kernel has the operation's name (allocator/emulated/cuda/python/hbmscope_values.py).
std::string_view torch_operation(std::string_view function, std::string_view file) {
  constexpr std::string_view before = "at::_ops::", values = "<frozen hbmscope_values>";
  const std::size_t begin = function.find(before);
  const bool is_of_values = file == values;
  if (begin == std::string_view::npos && !is_of_values) return {};
  if (begin != std::string_view::npos) function.remove_prefix(begin + before.size());
  function.remove_prefix(std::min(function.find_first_not_of('_'), function.size()));
  function = function.substr(0, function.find("::"));
  const std::size_t overload = function.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (overload != std::string_view::npos && overload > 1 && function[overload - 1] == '_')
    function = function.substr(0, overload - 1);
  for (const auto& [name, plain] : torch_names)
    if (name == function) return plain;
  return function;
}

bool is_of_python(std::string_view file) {
  return file.ends_with(".py");
}
// "ArrayImpl.__float__" -> "float"
std::string_view plain_name(std::string_view function) {
  function.remove_prefix(function.rfind('.') + 1);
  function.remove_prefix(std::min(function.find_first_not_of('_'), function.size()));
  return function.substr(0, function.find_last_not_of('_') + 1);
}

std::string text_from_frame(const Definitions& definitions, const TraceFrame& frame) {
  const std::filesystem::path file(definitions.text(frame.file));
  const std::string line = frame.line != 0 ? fmt::format(":{}", frame.line) : "";
  return printable(fmt::format("{} {}{}", definitions.text(frame.function), file.filename().string(), line));
}

// What the innermost line of your code called, and whether anything on the way down makes an array as large as the
// values say: in JAX, `expand_bool_indices` for `x[mask]`.
ReadPlace place_from_stack(const Definitions& definitions, std::uint32_t stack) {
  ReadPlace read;
  const OwnPlace own = find_own_place(definitions, stack);
  if (own.frame) read.line = text_from_frame(definitions, *own.frame);
  std::string_view of_torch, of_python;
  bool is_printed = false;
  for (TraceStack at = definitions.stack(stack); at.frame != 0; at = definitions.stack(at.parent)) {
    const TraceFrame frame = definitions.frame(at.frame);
    if (own.frame && frame == *own.frame) break;
    const std::string_view function = definitions.text(frame.function);
    if (const std::string_view operation = torch_operation(function, definitions.text(frame.file));
        !operation.empty()) {
      of_torch = operation;
      read.decides_size |= is_sizing(operation);
    } else if (is_of_python(definitions.text(frame.file))) {
      of_python = plain_name(function);
      is_printed |= definitions.text(frame.file).ends_with("/torch/_tensor_str.py");
      const bool is_of_jax = definitions.text(frame.file).find("/jax/") != std::string_view::npos;
      read.decides_size |= is_of_jax && is_sizing(of_python);
    }
    if (at.parent == 0) break;
  }
  if (is_printed) {  // PyTorch selects what it prints with the same operations.
    read.decides_size = false;
    of_torch = "print";
  }
  read.what = printable(std::string(!of_torch.empty() ? of_torch : of_python));
  return read;
}

}  // namespace

std::optional<ReadPlace> find_read_place(const Stream& stream, std::uint32_t place) {
  const std::string name = std::string(wire::value_read_mark) + std::to_string(place);
  for (const Mark& mark : stream.marks())
    if (mark.stack != 0 && stream.definitions().text(mark.name) == name)
      return place_from_stack(stream.definitions(), mark.stack);
  return std::nullopt;
}

bool has_autograd_frames(const Definitions& definitions) {
  for (std::uint32_t frame = 1; frame < definitions.frame_count(); ++frame)
    if (definitions.text(definitions.frame(frame).function).starts_with("torch::autograd::Engine::evaluate_function") ||
        is_autograd_thread_frame(definitions.text(definitions.frame(frame).function)))
      return true;
  return false;
}

}  // namespace hbmscope
