#include "analysis/write/trace_table_lines.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/trace_user_code.h"
#include "analysis/write/json_text.h"

namespace hbmscope {

std::string CsvTable::text_of(std::string_view bytes) const {
  return csv_text(bytes, reader_);
}

JsonTable::JsonTable(std::string_view columns) {
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = columns.find(',', begin);
    keys_.push_back(fmt::format("\"{}\":", columns.substr(begin, end - begin)));
  }
}

std::string JsonTable::text_of(std::string_view bytes) const {
  using Json = nlohmann::json;
  return bytes.empty() ? ""
                       : json_with_escaped_controls(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace));
}

TraceTableLines::TraceTableLines(const Stream& stream, std::size_t number, TraceTableFormat& format, TextPieces& out,
                                 PassControl& control)
    : stream_(stream),
      number_(number),
      format_(format),
      out_(out),
      control_(control),
      user_code_(stream.definitions().stack_count() + std::size_t{1}) {
  for (const HeapInfo& heap : stream.definitions().heaps()) heap_names_.push_back(format.text_of(heap.name));
}

void TraceTableLines::begin() {
  format_.begin_row(out_.text());
  add_digits(number_);
}

template <class Integer>
void TraceTableLines::add_digits(Integer number) {
  format_.add_number(out_.text(), fmt::format_int(number).c_str());
}

void TraceTableLines::add(const Number& number) {
  if (number) return add_digits(*number);
  format_.add_text(out_.text(), {});
}

void TraceTableLines::add_signed(const std::optional<std::int64_t>& number) {
  if (number) return add_digits(*number);
  format_.add_text(out_.text(), {});
}

void TraceTableLines::add_hexadecimal(const Number& number) {
  format_.add_number(out_.text(), number ? fmt::format("0x{:x}", *number) : std::string());
}

void TraceTableLines::add_address(std::uint32_t heap, const Number& address) {
  const bool is_reported = stream_.definitions().heap(heap).has(wire::heap_flag::has_addresses);
  add_hexadecimal(is_reported ? address : std::nullopt);
}

void TraceTableLines::add_word(std::string_view word) {
  format_.add_word(out_.text(), word);
}

void TraceTableLines::add_heap(std::uint32_t heap) {
  format_.add_text(out_.text(), heap < heap_names_.size() ? std::string_view(heap_names_[heap]) : std::string_view());
}

void TraceTableLines::add_string(std::uint32_t string) {
  format_.add_text(out_.text(), format_.text_of(stream_.definitions().text(string)));
}

void TraceTableLines::add_time(std::optional<std::int64_t> time_ns) {
  if (!stream_.has_times()) time_ns.reset();
  add_signed(time_ns);
  if (time_ns)
    time_ns = stream_.since_start_ns(*time_ns);
  add_signed(time_ns);
}

void TraceTableLines::add_user_code(std::uint32_t stack) {
  const UserCode& code = user_code(stack);
  format_.add_text(out_.text(), code.function);
  format_.add_text(out_.text(), code.file);
  add(code.line);
}

const TraceTableLines::UserCode& TraceTableLines::user_code(std::uint32_t stack) {
  UserCode& code = user_code_[stack < user_code_.size() ? stack : 0];
  if (code.is_made) return code;
  code.is_made = true;
  const Definitions& definitions = stream_.definitions();
  const auto frame = find_own_frame(definitions, stack);
  if (!frame) return code;
  code.function = format_.text_of(definitions.text(frame->function));
  code.file = format_.text_of(definitions.text(frame->file));
  code.line = frame->line;
  return code;
}

void TraceTableLines::end() {
  format_.end_row(out_.text());
  out_.line_is_done();
  if (!out_.is_open()) control_.cancelled = true;
}

}  // namespace hbmscope
