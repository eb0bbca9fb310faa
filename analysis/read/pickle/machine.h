// The stack machine that executes a pickle. Each opcode is one case of a switch in run(); any fault sets error_ and
// stops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/pickle/document_builder.h"
#include "analysis/read/pickle/opcodes.h"
#include "analysis/read/pickle/read_pickle.h"
#include "analysis/read/pickle/value.h"

namespace hbmscope::pickle {

// A growing array of values for the machine's stack and memo. Like std::vector, but with an inlined push, and without
// touching capacity before it is used.
class ValueArray {
 public:
  explicit ValueArray(std::size_t capacity) { reserve(std::max<std::size_t>(capacity, 64)); }

  void push(Value value) {
    if (size_ == capacity_) reserve(capacity_ * 2);
    values_[size_++] = value;
  }
  void shrink(std::size_t size) { size_ = size; }
  void grow(std::size_t size, Value filler) {
    if (size > capacity_) reserve(std::max(size, capacity_ * 2));
    std::fill(values_.get() + size_, values_.get() + size, filler);
    size_ = size;
  }

  std::size_t size() const { return size_; }
  Value back() const { return values_[size_ - 1]; }
  Value& operator[](std::size_t i) { return values_[i]; }
  Value* data() { return values_.get(); }

 private:
  void reserve(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<Value[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), values_.get(), size_ * sizeof(Value));
    values_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<Value[]> values_;
  std::size_t size_ = 0, capacity_ = 0;
};

// All bytes at once, or their source.
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

  // Arguments that follow the opcode. Numbers of a fixed size are in the window (look()).
  template <class Unsigned>
  bool read_number(Unsigned& number) {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(number)) return fail_cut_off();
    std::memcpy(&number, at_, sizeof(number));  // Pickles are little-endian, as is every machine with an accelerator.
    at_ += sizeof(number);
    return true;
  }
  bool read_bytes(std::uint64_t size, std::string_view& bytes);
  // Extends the window to at least that many bytes from at_ on, or more if there is room. Returns false if there are
  // fewer.
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
  // Finds the values above the last mark. They stay on the stack until the caller cuts it to `begin`.
  bool find_mark(std::size_t& begin);
  bool has_above_mark(std::size_t values) {
    const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
    return stack_.size() - bottom >= values || fail_nothing_there();
  }
  bool append_items(std::size_t begin);
  void note_mark();
  void mark_items();
  bool is_new(Value value) const;  // Added after the items that were taken last.
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
  bool fail(std::string what, std::string remedy);  // Reported at the opcode.
  bool fail_damaged(const std::string& what);
  bool fail_cut_off();
  bool fail_nothing_there();
  bool fail_never_put(std::uint64_t number);
  bool fail_refused(Opcode opcode);
  bool fail_global(std::string_view opcode);
  std::string_view opcode_name() const;

  // The bytes in memory; the first one is at offset base_.
  const std::uint8_t *begin_, *at_, *end_;
  const std::uint8_t *opcode_at_, *next_look_;
  std::uint64_t base_ = 0, total_ = 0;
  ByteSource* source_;  // Null: nothing follows the window.
  std::vector<std::uint8_t> window_;
  const std::string& name_;
  const Limits limits_;
  ReadControl* const control_;
  int protocol_ = 0;
  DocumentBuilder builder_;
  ValueArray stack_, memo_;
  std::vector<std::size_t> marks_;  // Stack heights.
  // The list whose items the taker wants, and the state after the last of them was taken.
  ItemTaker* const taker_;
  Value wanted_list_ = Value::missing();
  DocumentBuilder::Mark before_items_;
  std::size_t memo_before_items_ = 0;           // Memo entries from here on may be one of its items.
  bool has_taken_ = false, has_grown_ = false;  // has_grown_: something older than the taken items has grown.
  std::optional<Error> error_;
};

}  // namespace hbmscope::pickle
