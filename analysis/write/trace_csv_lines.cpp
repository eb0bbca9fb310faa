#include "analysis/write/trace_csv_lines.h"

#include <iterator>

#include <fmt/format.h>

#include "analysis/query/trace_own_code.h"
#include "analysis/write/csv_text.h"

namespace hbmscope {

TraceCsvLines::TraceCsvLines(const Stream& stream, std::size_t number, TextPieces& out, PassControl& control)
    : stream_(stream),
      number_(number),
      out_(out),
      control_(control),
      own_code_(stream.definitions().stack_count() + std::size_t{1}) {
  for (const HeapInfo& heap : stream.definitions().heaps()) heap_names_.push_back(csv_text(heap.name));
}

void TraceCsvLines::begin() {
  fmt::format_to(std::back_inserter(out_.text()), "{}", number_);
}

void TraceCsvLines::add(const Number& number) {
  out_.text() += ',';
  if (number) fmt::format_to(std::back_inserter(out_.text()), "{}", *number);
}

void TraceCsvLines::add_signed(const std::optional<std::int64_t>& number) {
  out_.text() += ',';
  if (number) fmt::format_to(std::back_inserter(out_.text()), "{}", *number);
}

void TraceCsvLines::add_hexadecimal(const Number& number) {
  out_.text() += ',';
  if (number) fmt::format_to(std::back_inserter(out_.text()), "0x{:x}", *number);
}

void TraceCsvLines::add_address(std::uint32_t heap, const Number& address) {
  const bool is_told = stream_.definitions().heap(heap).has(wire::heap_flag::has_addresses);
  add_hexadecimal(is_told ? address : std::nullopt);
}

void TraceCsvLines::add_word(std::string_view word) {
  out_.text() += ',';
  out_.text() += word;
}

void TraceCsvLines::add_heap(std::uint32_t heap) {
  add_word(heap < heap_names_.size() ? std::string_view(heap_names_[heap]) : std::string_view());
}

void TraceCsvLines::add_string(std::uint32_t string) {
  add_word(csv_text(stream_.definitions().text(string)));
}

void TraceCsvLines::add_time(std::optional<std::int64_t> time_ns) {
  if (!time_ns || !stream_.has_times()) {
    out_.text() += ",,";
    return;
  }
  const auto since = static_cast<std::int64_t>(static_cast<std::uint64_t>(*time_ns) -
                                               static_cast<std::uint64_t>(stream_.first_time_ns()));
  fmt::format_to(std::back_inserter(out_.text()), ",{},{}", *time_ns, since);
}

void TraceCsvLines::add_own_code(std::uint32_t stack) {
  add_word(own_code(stack));
}

const std::string& TraceCsvLines::own_code(std::uint32_t stack) {
  std::string& text = own_code_[stack < own_code_.size() ? stack : 0];
  if (!text.empty()) return text;
  const Definitions& definitions = stream_.definitions();
  const auto frame = find_own_frame(definitions, stack);
  text = frame ? fmt::format("{},{},{}", csv_text(definitions.text(frame->function)),
                             csv_text(definitions.text(frame->file)), frame->line)
               : ",,";
  return text;
}

void TraceCsvLines::end() {
  out_.text() += "\r\n";
  out_.line_is_done();
  if (!out_.is_open()) control_.cancelled = true;
}

}  // namespace hbmscope
