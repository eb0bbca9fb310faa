// A list of named arrays, such as the leaves of a pytree or the contents of a checkpoint: safetensors, JSON or
// tab-separated rows, recognised by content. The README of this folder describes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/tpu/shape.h"
#include "analysis/model/result.h"

namespace hbmscope {

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
