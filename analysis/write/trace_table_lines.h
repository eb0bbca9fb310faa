// Writes the lines of a trace's table, with what both tables have in common: the innermost frame in your code, times on
// the stream's clock and since its first event, and hexadecimal addresses if the source has any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"
#include "analysis/units/csv_text.h"
#include "analysis/write/text_sink.h"

namespace hbmscope {

// The syntax of fields and rows. Each field gets its text; an empty text means unknown.
class TraceTableFormat {
 public:
  virtual ~TraceTableFormat() = default;
  virtual void begin_row(std::string& out) = 0;
  virtual void add_number(std::string& out, std::string_view digits) = 0;
  virtual void add_word(std::string& out, std::string_view word) = 0;  // Letters, digits and underscores only.
  // `text` is a result of text_of().
  virtual void add_text(std::string& out, std::string_view text) = 0;
  virtual void end_row(std::string& out) = 0;
  virtual std::string text_of(std::string_view bytes) const = 0;  // Empty for an empty text.
};

class CsvTable : public TraceTableFormat {
 public:
  explicit CsvTable(CsvReader reader) : reader_(reader) {}
  void begin_row(std::string&) override { is_first_ = true; }
  void add_number(std::string& out, std::string_view digits) override { add_text(out, digits); }
  void add_word(std::string& out, std::string_view word) override { add_text(out, word); }
  void add_text(std::string& out, std::string_view text) override {
    if (!is_first_) out += ',';
    is_first_ = false;
    out += text;
  }
  void end_row(std::string& out) override { out += "\r\n"; }
  std::string text_of(std::string_view bytes) const override;

 private:
  CsvReader reader_;
  bool is_first_ = true;
};

class JsonTable : public TraceTableFormat {
 public:
  explicit JsonTable(std::string_view columns);  // Separated by commas.
  void begin_row(std::string& out) override {
    out += is_first_row_ ? "\n{" : ",\n{";
    is_first_row_ = false;
    is_first_ = true;
    column_ = 0;
  }
  void add_number(std::string& out, std::string_view digits) override {
    const bool is_hexadecimal = digits.starts_with("0x");
    is_hexadecimal ? add_word(out, digits) : add_text(out, digits);
  }
  void add_word(std::string& out, std::string_view word) override {
    if (word.empty()) return add_text(out, word);
    add_text(out, "\"");
    out += word;
    out += '"';
  }
  void add_text(std::string& out, std::string_view text) override {
    const std::string& key = keys_[column_++];
    if (text.empty()) return;
    if (!is_first_) out += ',';
    is_first_ = false;
    out += key;
    out += text;
  }
  void end_row(std::string& out) override { out += '}'; }
  std::string text_of(std::string_view bytes) const override;

 private:
  std::vector<std::string> keys_;  // "\"name\":", by column.
  std::size_t column_ = 0;         // The next one.
  bool is_first_row_ = true, is_first_ = true;
};

class TraceTableLines {
 public:
  using Number = std::optional<std::uint64_t>;

  // `stream` and `format` must outlive it. If the sink refuses data, `control` is cancelled.
  TraceTableLines(const Stream& stream, std::size_t number, TraceTableFormat& format, TextPieces& out,
                  PassControl& control);

  void begin();  // Writes the stream's number.
  void add(const Number& number);
  void add_signed(const std::optional<std::int64_t>& number);
  void add_hexadecimal(const Number& number);
  void add_address(std::uint32_t heap, const Number& address);  // Empty if the heap's source invents addresses.
  void add_word(std::string_view word);
  void add_heap(std::uint32_t heap);  // Its name.
  void add_string(std::uint32_t string);
  void add_time(std::optional<std::int64_t> time_ns);  // Two fields: on the clock, and since the first event.
  void add_user_code(std::uint32_t stack);             // Three: function, file, line.
  void end();

 private:
  // Texts in the syntax of the format.
  struct UserCode {
    std::string function, file;
    Number line;
    bool is_made = false;
  };
  const UserCode& user_code(std::uint32_t stack);
  template <class Integer>
  void add_digits(Integer number);

  const Stream& stream_;
  std::size_t number_;
  TraceTableFormat& format_;
  TextPieces& out_;
  PassControl& control_;
  std::vector<std::string> heap_names_;  // By id.
  std::vector<UserCode> user_code_;      // By stack.
};

}  // namespace hbmscope
