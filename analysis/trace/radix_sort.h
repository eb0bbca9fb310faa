// Stable sort by a number, lowest digits first. Only digits in which the numbers differ cost a pass: addresses agree in
// the lowest ones because of alignment, and in the highest ones.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace hbmscope {

// `differing` must contain the bits in which any two numbers differ; additional bits do no harm. `scratch` must be as
// long as `items`; the two spans may be swapped.
template <class Item, class NumberOf>
void radix_sort(std::span<Item>& items, std::span<Item>& scratch, std::uint64_t differing, const NumberOf& number_of) {
  constexpr unsigned digit_bits = 11;
  constexpr std::uint64_t digit_mask = (1U << digit_bits) - 1;
  for (unsigned shift = 0; shift < 64 && differing >> shift != 0; shift += digit_bits) {
    shift += static_cast<unsigned>(std::countr_zero(differing >> shift));
    std::array<std::uint32_t, digit_mask + 2> begins{};
    for (const Item& item : items) ++begins[(number_of(item) >> shift & digit_mask) + 1];
    for (std::size_t digit = 1; digit < begins.size(); ++digit) begins[digit] += begins[digit - 1];
    for (const Item& item : items) scratch[begins[number_of(item) >> shift & digit_mask]++] = item;
    std::swap(items, scratch);
  }
}

}  // namespace hbmscope
