#include "analysis/read/pickle/old_protocols.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "analysis/read/pickle/opcodes.h"

namespace hbmscope::pickle {
namespace {

constexpr std::size_t marks_max = 4'096;

bool is_number(std::string_view text) {
  if (text == "inf" || text == "-inf" || text == "nan") return true;
  return text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789+-.eEL") == std::string_view::npos;
}
bool is_quoted(std::string_view text) {
  return text.size() >= 2 && text.front() == text.back() && (text.front() == '\'' || text.front() == '"');
}
bool is_global_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  std::optional<OldPickle> run() {
    while (at_ < text_.size()) {
      const std::size_t opcode_at = at_;
      const char opcode = text_[at_++];
      if (opcode == '.') return is_at_end() && marks_.empty() && depth_ == 1 ? std::optional(found_) : std::nullopt;
      if (!step(opcode)) return std::nullopt;
      const OpcodeInfo info = find_opcode(static_cast<std::uint8_t>(opcode));
      if (info.use != OpcodeUse::code || !found_.code.empty()) continue;
      found_.code_at = opcode_at;
      found_.code = info.name;
      if (opcode == 'c' || opcode == 'i') found_.code_name = text_.substr(opcode_at + 1, at_ - opcode_at - 2);
    }
    return std::nullopt;
  }

 private:
  bool is_at_end() const { return text_.find_first_not_of("\r\n", at_) == std::string_view::npos; }

  template <class Test>
  bool line(const Test& test) {
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos || !test(text_.substr(at_, end - at_))) return false;
    at_ = end + 1;
    return true;
  }
  bool skip(std::uint64_t bytes) {
    if (bytes > text_.size() - at_) return false;
    at_ += static_cast<std::size_t>(bytes);
    return true;
  }
  template <class Length>
  bool skip_counted() {
    Length length = 0;
    if (text_.size() - at_ < sizeof(length)) return false;
    std::memcpy(&length, text_.data() + at_, sizeof(length));
    at_ += sizeof(length);
    return skip(length);
  }
  bool push() {
    ++depth_;
    return true;
  }
  // Pops that many values above the last mark, and pushes one result.
  bool make_from(std::size_t taken) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (depth_ < floor + taken) return false;
    depth_ -= taken;
    return push();
  }
  // Pops everything above the last mark, and `below` values under it.
  bool take_to_mark(std::size_t below) {
    if (marks_.empty()) return false;
    depth_ = marks_.back();
    marks_.pop_back();
    return depth_ >= below;
  }

  // Opcodes of protocols 0 and 1 only.
  bool step(char opcode) {
    switch (opcode) {
      case '(': marks_.push_back(depth_); return marks_.size() <= marks_max;
      case 'I':
      case 'L':
      case 'F': return line(is_number) && push();
      case 'S': return line(is_quoted) && push();
      case 'V': return line([](std::string_view) { return true; }) && push();
      case 'P': return line([](std::string_view) { return true; }) && push();
      case 'g': return line(is_number) && push();
      case 'p': return depth_ > 0 && line(is_number);
      case 'N':
      case ']':
      case '}':
      case ')': return push();
      case 'J': return skip(4) && push();
      case 'K': return skip(1) && push();
      case 'M': return skip(2) && push();
      case 'G': return skip(8) && push();
      case 'U': return skip_counted<std::uint8_t>() && push();
      case 'T':
      case 'X': return skip_counted<std::uint32_t>() && push();
      case 'h': return skip(1) && push();
      case 'j': return skip(4) && push();
      case 'q': return depth_ > 0 && skip(1);
      case 'r': return depth_ > 0 && skip(4);
      default: return step_container(opcode);
    }
  }

  bool step_container(char opcode) {
    switch (opcode) {
      case '0': return depth_ > 0 && depth_-- > 0;
      case '1': return take_to_mark(0);
      case '2': return depth_ > 0 && push();
      case 't':
      case 'l':
      case 'd': return take_to_mark(0) && push();
      case 'e':
      case 'u': return take_to_mark(1);
      case 'a': return make_from(2);
      case 's': return make_from(3);
      case 'c': return line(is_global_name) && line(is_global_name) && push();
      case 'i': return line(is_global_name) && line(is_global_name) && take_to_mark(0) && push();
      case 'o': return take_to_mark(0) && push();
      case 'Q': return make_from(1);
      case 'R':
      case 'b': return make_from(2);
      default: return false;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, depth_ = 0;
  std::vector<std::size_t> marks_;  // Stack depths.
  OldPickle found_;
};

}  // namespace

std::optional<OldPickle> find_old_pickle(std::span<const std::uint8_t> bytes) {
  return Walk({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).run();
}

}  // namespace hbmscope::pickle
