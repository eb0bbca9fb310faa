// Where a long export goes, piece by piece: a trace of 10^8 events is never one text in memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace hbmscope {

// False: it could not be written, and nothing more need be tried; why, the sink's owner knows.
using TextSink = std::function<bool(std::string_view)>;

enum class ExportEnd { whole, cancelled, refused };  // Refused: by the sink.

// Collects lines and hands on 256 KiB at a time.
class TextPieces {
 public:
  explicit TextPieces(TextSink sink) : sink_(std::move(sink)) {}

  std::string& text() { return text_; }  // Append here, ...
  void line_is_done() {                  // ... then say so.
    if (text_.size() >= piece_bytes) flush();
  }
  bool flush() {
    if (is_open_ && !text_.empty()) is_open_ = sink_(text_);
    text_.clear();
    return is_open_;
  }
  bool is_open() const { return is_open_; }

 private:
  static constexpr std::size_t piece_bytes = 256 << 10;
  TextSink sink_;
  std::string text_;
  bool is_open_ = true;
};

}  // namespace hbmscope
