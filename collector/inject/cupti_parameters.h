// A call's parameters as CUPTI passes them: in order, as the members of a struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "collector/abi/cuda.h"

namespace hbmscope::inject::cupti {

template <class Function>
struct Parameters;

template <class... Types>
struct Parameters<cuda::Result (*)(Types...)> {
  static constexpr std::size_t count = sizeof...(Types);
  struct Layout {
    std::size_t offsets[count], bytes;
  };
  static constexpr Layout layout = [] {
    Layout found{};
    const std::size_t sizes[] = {sizeof(Types)...}, alignments[] = {alignof(Types)...};
    std::size_t widest = 1;
    for (std::size_t i = 0; i < count; ++i) {
      const auto round_up = [&](std::size_t to) { found.bytes = (found.bytes + to - 1) / to * to; };
      round_up(alignments[i]);
      found.offsets[i] = found.bytes;
      found.bytes += sizes[i];
      widest = alignments[i] > widest ? alignments[i] : widest;
      if (i + 1 == count) round_up(widest);
    }
    return found;
  }();

  template <class Callee>
  static auto apply(const Callee& callee, const void* parameters) {
    return apply(callee, static_cast<const unsigned char*>(parameters), std::index_sequence_for<Types...>());
  }

 private:
  template <class Type>
  static Type read(const unsigned char* at) {
    Type value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  template <class Callee, std::size_t... indices>
  static auto apply(const Callee& callee, const unsigned char* parameters, std::index_sequence<indices...>) {
    return callee(read<Types>(parameters + layout.offsets[indices])...);
  }
};

}  // namespace hbmscope::inject::cupti
