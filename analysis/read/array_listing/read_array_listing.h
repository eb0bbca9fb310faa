// A list of named arrays, such as a pytree's leaves or what a checkpoint holds: safetensors, JSON or rows between tabs,
// known by its content. The README of this folder describes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/tpu/shape.h"
#include "analysis/model/result.h"

namespace hbmscope {

struct ListedArray {
  std::string name;             // "params/dense/kernel"; of a list without names "row 3".
  allocator::tpu::Shape shape;  // With a layout where the list names one.
};

// Of a .safetensors file only the head is read. `file` is "-" for standard input. Errors: those of read_file; what is
// none of the three forms; an array without type or shape, or of an unknown type, with its name.
Result<std::vector<ListedArray>> read_array_listing(const std::string& file);
// The same of bytes; of safetensors at least its head.
Result<std::vector<ListedArray>> parse_array_listing(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope
