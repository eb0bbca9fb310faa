#include "analysis/read/array_listing/array_type.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace hbmscope {
namespace {

using Renaming = std::pair<std::string_view, std::string_view>;

// Prefixes that other producers use instead of XLA's one or two letters; bits follow. The first match is used.
constexpr std::array beginnings = {Renaming{"bfloat", "bf"}, Renaming{"float8_", "f8"}, Renaming{"float4_", "f4"},
                                   Renaming{"float", "f"},   Renaming{"uint", "u"},     Renaming{"int", "s"},
                                   Renaming{"complex", "c"}, Renaming{"f8_", "f8"},     Renaming{"i", "s"}};
// Complete names, after their prefix was replaced by XLA's.
constexpr std::array whole = {Renaming{"bool", "pred"}, Renaming{"f4", "f4e2m1fn"}, Renaming{"f8e8m0", "f8e8m0fnu"}};

}  // namespace

const allocator::tpu::ElementType* find_array_type(std::string_view name) {
  if (const auto* type = allocator::tpu::find_element_type(name)) return type;
  constexpr std::string_view torch = "torch.";
  if (name.starts_with(torch)) name.remove_prefix(torch.size());
  std::string text(name.substr(0, 32));
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  for (const auto& [from, to] : beginnings) {
    if (!text.starts_with(from)) continue;
    text = std::string(to) + text.substr(from.size());
    break;
  }
  for (const auto& [from, to] : whole)
    if (text == from) text = to;
  return allocator::tpu::find_element_type(text);
}

}  // namespace hbmscope
