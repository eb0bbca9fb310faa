// XLA's element types, by their names in XLA's texts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hbmscope::allocator::tpu {

struct ElementType {
  std::string_view name;   // "bf16"
  std::uint32_t bits = 0;  // The size of one value: 16. A pred (true or false) has 8, as XLA stores it.

  // The size of a value if its layout has no E(bits): whole bytes (ShapeUtil::ByteSizeOfPrimitiveType).
  std::uint64_t bytes() const { return (bits + 7) / 8; }
};

// All known types, by name. s1 and u1 are left out because their tiles are unknown. Source: xla/xla_data.proto and
// xla/primitive_util.h.
std::span<const ElementType> all_element_types();
// Null: no such type. Tokens and opaque values have no size and are not types here.
const ElementType* find_element_type(std::string_view name);

}  // namespace hbmscope::allocator::tpu
