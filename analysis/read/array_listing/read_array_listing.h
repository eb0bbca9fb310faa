// A list of named arrays, such as the leaves of a pytree or the contents of a checkpoint: safetensors, JSON or
// tab-separated rows, recognised by content. The README of this folder describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/emulated/tpu/element_type.h"
#include "allocator/emulated/tpu/shape.h"
#include "analysis/model/result.h"

namespace hbmscope {

// Tab-separated rows below a header line that names the columns.
struct TextRow {
  std::vector<std::string> cells;
  std::uint64_t line = 0;    // From 1.
  std::uint64_t offset = 0;  // The offset of its first byte.
};

// The next non-empty line without its line end; advances `offset` and `line` past it. Nothing at the end.
std::optional<TextRow> next_row(std::string_view text, std::size_t& offset, std::uint64_t& line);
// The index of a column, if there is one.
std::optional<std::size_t> find_column(const std::vector<std::string>& head, std::string_view name);

// The name in XLA ("bf16"), numpy and jax ("bfloat16"), torch ("torch.bfloat16") or safetensors ("BF16"). Null:
// unknown.
const allocator::tpu::ElementType* find_array_type(std::string_view name);

struct ListedArray {
  std::string name;             // "params/dense/kernel"; in a list without names "row 3".
  allocator::tpu::Shape shape;  // With a layout if the list has one.
};

// Reads only the header of a .safetensors file. `file` is "-" for standard input. Errors: those of read_file; a file
// that has none of the three forms; an array without type or shape, or of an unknown type (with its name).
Result<std::vector<ListedArray>> read_array_listing(const std::string& file);
// The same from memory; of safetensors at least the header.
Result<std::vector<ListedArray>> parse_array_listing(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope
