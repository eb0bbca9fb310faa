// What the C++ library of Debian's Emscripten (libc++ 13) lacks of C++20; the compiler includes it before everything
// else.
#pragma once

#ifdef __cplusplus
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>

namespace std {

template <class T>
enable_if_t<is_array_v<T>, unique_ptr<T>> make_unique_for_overwrite(size_t count) {
  return unique_ptr<T>(new remove_extent_t<T>[count]);
}
template <class T>
enable_if_t<!is_array_v<T>, unique_ptr<T>> make_unique_for_overwrite() {
  return unique_ptr<T>(new T);
}

#if !defined(__cpp_lib_bit_cast)
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

// As strtod does it in the "C" locale, which is the only one here.
template <class Number, class = enable_if_t<is_floating_point_v<Number>>>
from_chars_result from_chars(const char* first, const char* last, Number& value,
                             chars_format format = chars_format::general) {
  const auto is_of_number = [format](char one) {
    if ((one >= '0' && one <= '9') || one == '.' || one == '-') return true;
    return format == chars_format::general && (one == 'e' || one == 'E' || one == '+');
  };
  const char* end = first;
  while (end != last && is_of_number(*end)) ++end;
  const string text(first, end);
  if (text.empty() || text.front() == '+') return {first, errc::invalid_argument};
  char* stop = nullptr;
  const double number = strtod(text.c_str(), &stop);
  if (stop == text.c_str()) return {first, errc::invalid_argument};
  value = static_cast<Number>(number);
  return {first + (stop - text.c_str()), errc()};
}

class jthread : public thread {
 public:
  using thread::thread;
  jthread(jthread&&) = default;
  ~jthread() {
    if (joinable()) join();
  }
};

}  // namespace std
#endif
