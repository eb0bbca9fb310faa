// The stack machine that a pickle is a program for. One opcode is one case of a switch in run(); whatever is wrong
// makes error_ and stops.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/pickle/document_builder.h"
#include "analysis/read/pickle/opcodes.h"
#include "analysis/read/pickle/read_pickle.h"
#include "analysis/read/pickle/value_array.h"

namespace hbmscope::pickle {

// All bytes at once, or where they come from.
struct Input {
  std::span<const std::uint8_t> bytes;
  ByteSource* source = nullptr;
};

class Machine {
 public:
  Machine(Document& document, const Input& input, const std::string& name, const Limits& limits, ReadControl* control,
          ItemTaker* taker);
  std::optional<Error> run();

 private:
  bool step(Opcode opcode);  // False at STOP and after an error.
  bool step_text_or_bytes(Opcode opcode);
  bool read_usual_dict();
  bool step_container(Opcode opcode);
  bool step_other(Opcode opcode);

  // Arguments that stand behind the opcode. Numbers of a fixed size are in the window (look()).
  template <class Unsigned>
  bool read_number(Unsigned& number) {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(number)) return fail_cut_off();
    std::memcpy(&number, at_, sizeof(number));  // Pickles are little-endian, as is every machine with an accelerator.
    at_ += sizeof(number);
    return true;
  }
  bool read_bytes(std::uint64_t size, std::string_view& bytes);
  // Brings so many bytes from at_ on into the window, and as many more as it has room for. False: there are fewer.
  bool fill_window(std::size_t bytes);
  std::uint64_t offset_of(const std::uint8_t* at) const { return base_ + static_cast<std::uint64_t>(at - begin_); }
  std::uint64_t bytes_left() const { return total_ - offset_of(at_); }
  template <class Unsigned>
  bool push_text();
  template <class Unsigned>
  bool push_bytes();
  bool push_float();
  bool push_long(std::uint64_t size);
  bool check_frame();

  bool push(Value value) {
    stack_.push(value);
    return true;
  }
  // Values above the last mark, which stay on the stack until the caller cuts it to `begin`.
  bool find_mark(std::size_t& begin);
  bool has_above_mark(std::size_t values) {
    const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
    return stack_.size() - bottom >= values || fail_nothing_there();
  }
  bool append_items(std::size_t begin);
  void note_mark();
  void mark_items();
  bool is_new(Value value) const;  // It came since the items that were taken last.
  bool take_items(std::size_t begin);
  bool may_change(Value container);
  bool set_items(std::size_t begin);
  bool close_outermost_dict();
  bool make_tuple(std::size_t begin);
  bool memoize() {
    if (!has_above_mark(1)) return false;
    memo_.push(stack_.back());
    return true;
  }
  bool put(std::uint64_t number);
  bool get(std::uint64_t number) {
    if (number >= memo_.size() || memo_[number].is_missing()) return fail_never_put(number);
    return push(memo_[number]);
  }

  bool look();
  bool fail(std::string what, std::string remedy);  // At the opcode.
  bool fail_damaged(const std::string& what);
  bool fail_cut_off();
  bool fail_nothing_there();
  bool fail_never_put(std::uint64_t number);
  bool fail_refused(Opcode opcode);
  bool fail_global(std::string_view opcode);
  std::string_view opcode_name() const;

  // Of the bytes those that are in memory; the first one lies at base_.
  const std::uint8_t *begin_, *at_, *end_;
  const std::uint8_t *opcode_at_, *next_look_;
  std::uint64_t base_ = 0, total_ = 0;
  ByteSource* source_;  // Null: nothing comes behind the window.
  std::vector<std::uint8_t> window_;
  const std::string& name_;
  const Limits limits_;
  ReadControl* const control_;
  int protocol_ = 0;
  DocumentBuilder builder_;
  ValueArray stack_, memo_;
  std::vector<std::size_t> marks_;  // Heights of the stack.
  // The list whose items the taker wants, and what was there when the last of them had been taken.
  ItemTaker* const taker_;
  Value wanted_list_ = Value::missing();
  DocumentBuilder::Mark before_items_;
  std::size_t memo_before_items_ = 0;           // What is in the memo from there on may be one of them.
  bool has_taken_ = false, has_grown_ = false;  // Grown: something that was there when items were taken.
  std::optional<Error> error_;
};

}  // namespace hbmscope::pickle
