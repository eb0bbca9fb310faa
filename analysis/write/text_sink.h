// The destination of a long export, piece by piece: the text of a trace of 10^8 events is never in memory as a whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace hbmscope {

// Returns false if writing failed; the export then stops. The sink's owner knows the reason.
using TextSink = std::function<bool(std::string_view)>;

enum class ExportEnd { whole, cancelled, refused };  // Refused: by the sink.

// Collects lines and passes them on in pieces of 256 KiB.
class TextPieces {
 public:
  explicit TextPieces(TextSink sink) : sink_(std::move(sink)) {}

  std::string& text() { return text_; }  // Append a line here, ...
  void line_is_done() {                  // ... then call this.
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
