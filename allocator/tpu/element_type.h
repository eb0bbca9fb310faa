// XLA's element types, by the names that its texts use.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hbmscope::allocator::tpu {

struct ElementType {
  std::string_view name;   // "bf16"
  std::uint32_t bits = 0;  // Of a value: 16. A pred, true or false, has 8, as XLA stores it.

  // What a value takes where a layout names no E(bits): whole bytes (ShapeUtil::ByteSizeOfPrimitiveType).
  std::uint64_t bytes() const { return (bits + 7) / 8; }
};

// All known types, by name; not s1 and u1, whose tiles are unknown. Source: xla/xla_data.proto and
// xla/primitive_util.h.
std::span<const ElementType> all_element_types();
// Null: there is no such type. Tokens and opaque values have no size and are none.
const ElementType* find_element_type(std::string_view name);

}  // namespace hbmscope::allocator::tpu
