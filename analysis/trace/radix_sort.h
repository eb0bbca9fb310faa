// Sorts by a number, lowest digits first; equals keep their order. Only digits in which the numbers differ cost a pass:
// addresses are the same in the lowest, by alignment, and in the highest.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace hbmscope {

// `differing` has the bits in which any two numbers differ; more of them do no harm. `scratch` is as long as the items;
// the two may change places.
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
