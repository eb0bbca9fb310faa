// One line of a trace's table after the other, with what both tables have in common: the innermost own frame, times on
// the stream's clock and since its first event, addresses in hexadecimal where the source has any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/pass.h"
#include "analysis/write/text_sink.h"

namespace hbmscope {

class TraceCsvLines {
 public:
  using Number = std::optional<std::uint64_t>;

  // `stream` must outlive it; a sink that refuses cancels `control`, as a wish to stop does.
  TraceCsvLines(const Stream& stream, std::size_t number, TextPieces& out, PassControl& control);

  // Without a comma before or behind it: the first of a line.
  void begin();  // The stream's number.
  // Each with a comma before it; nothing where there is nothing.
  void add(const Number& number);
  void add_signed(const std::optional<std::int64_t>& number);
  void add_hexadecimal(const Number& number);
  void add_address(std::uint32_t heap, const Number& address);  // Nothing where the heap's source makes them up.
  void add_word(std::string_view word);                         // That needs no quotes.
  void add_heap(std::uint32_t heap);                            // Its name.
  void add_string(std::uint32_t string);
  void add_time(std::optional<std::int64_t> time_ns);  // Two fields: on the clock, since the first event.
  void add_own_code(std::uint32_t stack);              // Three: function, file, line.
  void end();

 private:
  const std::string& own_code(std::uint32_t stack);

  const Stream& stream_;
  std::size_t number_;
  TextPieces& out_;
  PassControl& control_;
  std::vector<std::string> heap_names_;  // By id.
  std::vector<std::string> own_code_;    // By stack; empty: not made yet.
};

}  // namespace hbmscope
