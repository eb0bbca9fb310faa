#include "allocator/emulated/tpu/element_type.h"

#include <algorithm>
#include <array>

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::array types = {
    ElementType{"pred", 8},      ElementType{"s2", 2},
    ElementType{"s4", 4},        ElementType{"s8", 8},
    ElementType{"s16", 16},      ElementType{"s32", 32},
    ElementType{"s64", 64},      ElementType{"u2", 2},
    ElementType{"u4", 4},        ElementType{"u8", 8},
    ElementType{"u16", 16},      ElementType{"u32", 32},
    ElementType{"u64", 64},      ElementType{"f16", 16},
    ElementType{"bf16", 16},     ElementType{"f32", 32},
    ElementType{"f64", 64},      ElementType{"c64", 64},
    ElementType{"c128", 128},    ElementType{"f4e2m1fn", 4},
    ElementType{"f8e3m4", 8},    ElementType{"f8e4m3", 8},
    ElementType{"f8e4m3fn", 8},  ElementType{"f8e4m3fnuz", 8},
    ElementType{"f8e5m2", 8},    ElementType{"f8e5m2fnuz", 8},
    ElementType{"f8e8m0fnu", 8}, ElementType{"f8e4m3b11fnuz", 8},
};

}  // namespace

std::span<const ElementType> all_element_types() {
  return types;
}

const ElementType* find_element_type(std::string_view name) {
  const auto found = std::find_if(types.begin(), types.end(), [&](const ElementType& t) { return t.name == name; });
  return found == types.end() ? nullptr : &*found;
}

}  // namespace hbmscope::allocator::tpu
