#include "analysis/read/pickle/machine.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

namespace hbmscope::pickle {
namespace {

using Tag = Value::Tag;

constexpr std::ptrdiff_t progress_bytes = 1 << 20;
constexpr std::size_t window_bytes = 1 << 20;
constexpr std::size_t waiting_max = 64;         // A snapshot's keys and values, and one list per device.
constexpr std::ptrdiff_t fixed_bytes_max = 16;  // An opcode and its number.
constexpr std::size_t bytes_per_memo = 32;      // An estimate; snapshots memoize something every 50 to 100.

}  // namespace

static_assert(std::endian::native == std::endian::little);

Machine::Machine(Document& document, const Input& input, const std::string& name, const Limits& limits,
                 ReadControl* control, ItemTaker* taker)
    : begin_(input.bytes.data()),
      at_(begin_),
      end_(begin_ + input.bytes.size()),
      opcode_at_(begin_),
      next_look_(begin_),
      total_(input.source == nullptr ? input.bytes.size() : input.source->size()),
      source_(input.source),
      name_(name),
      limits_(limits),
      control_(control),
      builder_(document, total_),
      stack_(4'096),
      memo_(static_cast<std::size_t>(total_ / bytes_per_memo)),
      taker_(taker) {
  if (control_ == nullptr) return;
  control_->done_bytes = 0;
  control_->total_bytes = total_;
}

std::optional<Error> Machine::run() {
  bool goes_on = true;
  while (goes_on) {
    opcode_at_ = at_;
    if (at_ >= next_look_ && !look()) break;
    if (at_ == end_) {
      if (!limits_.is_beginning || !close_outermost_dict()) fail_cut_off();
      break;
    }
    goes_on = step(static_cast<Opcode>(*at_++));
  }
  if (!error_) builder_.finish(stack_.back(), protocol_, offset_of(at_));
  return std::move(error_);
}

// Handles the most common opcodes. The others are in separate functions, so that this one stays short enough for the
// compiler to keep its variables in registers.
bool Machine::step(Opcode opcode) {
  switch (opcode) {
    case Opcode::binget: {
      std::uint8_t number = 0;
      return read_number(number) && get(number);
    }
    case Opcode::long_binget: {
      std::uint32_t number = 0;
      return read_number(number) && get(number);
    }
    case Opcode::memoize: return memoize();
    case Opcode::binint1: {
      std::uint8_t number = 0;
      return read_number(number) && push(Value::small_integer(number));
    }
    case Opcode::binint2: {
      std::uint16_t number = 0;
      return read_number(number) && push(Value::small_integer(number));
    }
    case Opcode::binint: {
      std::uint32_t number = 0;
      return read_number(number) && push(Value::small_integer(static_cast<std::int32_t>(number)));
    }
    case Opcode::long1: {
      std::uint8_t size = 0;
      return read_number(size) && push_long(size);
    }
    case Opcode::short_binunicode: return push_text<std::uint8_t>();
    case Opcode::mark:
      if (marks_.size() >= limits_.nesting_max)
        return fail_damaged(fmt::format("more than {} marks are open", limits_.nesting_max));
      marks_.push_back(stack_.size());
      if (taker_ != nullptr) note_mark();
      return true;
    case Opcode::empty_dict: return read_usual_dict() || push(builder_.add_dict());
    case Opcode::empty_list: return push(builder_.add_list());
    case Opcode::setitems: {
      std::size_t begin = 0;
      return find_mark(begin) && set_items(begin);
    }
    case Opcode::appends: {
      std::size_t begin = 0;
      return find_mark(begin) && append_items(begin);
    }
    default: return step_container(opcode);
  }
}

// Reads the most common kind of dict: memoized, followed by a mark, pairs of a memoized key and a value (a number, a
// new pair of numbers, or a memoized value), and SETITEMS. Reading it at once, without the stack, halves the time.
// Returns false for any other dict, without side effects.
bool Machine::read_usual_dict() {
  constexpr std::size_t keys_max = 16, pairs_max = 2;
  constexpr std::ptrdiff_t dict_bytes_max = 6 + keys_max * (5 + 2 * 10 + 6) + 1;
  if (end_ - at_ < dict_bytes_max || marks_.size() >= limits_.nesting_max) return false;
  const std::uint8_t* at = at_;
  const auto number_at = [&]<class Number>(Number) {
    Number number = 0;
    std::memcpy(&number, at, sizeof(number));
    at += sizeof(number);
    return number;
  };
  const auto opcode_at = [&] { return static_cast<Opcode>(*at++); };
  const auto met = [&](std::uint32_t number) { return number < memo_.size() ? memo_[number] : Value::missing(); };
  // Does the opcode memoize under this number?
  const auto puts_as = [&](std::size_t number) {
    const Opcode puts = opcode_at();
    if (puts == Opcode::binput) return number == number_at(std::uint8_t{});
    if (puts == Opcode::long_binput) return number == number_at(std::uint32_t{});
    return puts == Opcode::memoize;
  };
  // Missing if the opcode pushes no integer, or one that is not small.
  const auto number_of = [&](Opcode opcode) {
    if (opcode == Opcode::binint1) return Value::small_integer(number_at(std::uint8_t{}));
    if (opcode == Opcode::binint2) return Value::small_integer(number_at(std::uint16_t{}));
    if (opcode == Opcode::binint) return Value::small_integer(number_at(std::int32_t{}));
    if (opcode != Opcode::long1) return Value::missing();
    const unsigned size = number_at(std::uint8_t{});
    if (size == 0 || size > 8) return Value::missing();
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    at += size;
    const auto number = static_cast<std::int64_t>(bits << (64 - 8 * size)) >> (64 - 8 * size);
    return Value::fits_small(number) ? Value::small_integer(number) : Value::missing();
  };

  if (!puts_as(memo_.size()) || opcode_at() != Opcode::mark) return false;
  std::array<Value, 2 * keys_max> keys_and_values;
  struct Pair {
    std::size_t place;  // Index in keys_and_values.
    std::array<Value, 2> numbers;
  };
  std::array<Pair, pairs_max> pairs;
  std::size_t count = 0, pair_count = 0;
  for (Opcode opcode = opcode_at(); opcode != Opcode::setitems; opcode = opcode_at()) {
    Value value = opcode == Opcode::binget        ? met(number_at(std::uint8_t{}))
                  : opcode == Opcode::long_binget ? met(number_at(std::uint32_t{}))
                  : opcode == Opcode::none        ? Value::none()
                                                  : number_of(opcode);
    if (value.is_missing()) return false;
    const bool is_get = opcode == Opcode::binget || opcode == Opcode::long_binget;
    if (count % 2 == 0 && !is_get) {  // Not a key: the second number of a pair.
      if (count == 0 || pair_count == pairs_max || opcode == Opcode::none) return false;
      const bool is_pair_already = pair_count > 0 && pairs[pair_count - 1].place == count - 1;
      if (is_pair_already || !keys_and_values[count - 1].is(Value::Tag::small_integer)) return false;
      pairs[pair_count] = {count - 1, {keys_and_values[count - 1], value}};
      if (opcode_at() != Opcode::tuple2 || !puts_as(memo_.size() + 1 + pair_count)) return false;
      ++pair_count;
      continue;
    }
    if (count == keys_and_values.size()) return false;
    keys_and_values[count++] = value;
  }
  if (count == 0 || count % 2 != 0) return false;
  at_ = at;
  const Value dict = builder_.add_dict();
  memo_.push(dict);
  for (const Pair& pair : std::span(pairs).first(pair_count)) {
    memo_.push(builder_.add_tuple(pair.numbers));
    keys_and_values[pair.place] = memo_.back();
  }
  builder_.set_items(dict, std::span(keys_and_values).first(count));
  return push(dict);
}

bool Machine::step_container(Opcode opcode) {
  std::size_t begin = 0;
  switch (opcode) {
    case Opcode::setitem: return has_above_mark(3) && set_items(stack_.size() - 2);
    case Opcode::append: return has_above_mark(2) && append_items(stack_.size() - 1);
    case Opcode::empty_tuple: return make_tuple(stack_.size());
    case Opcode::tuple1: return has_above_mark(1) && make_tuple(stack_.size() - 1);
    case Opcode::tuple2: return has_above_mark(2) && make_tuple(stack_.size() - 2);
    case Opcode::tuple3: return has_above_mark(3) && make_tuple(stack_.size() - 3);
    case Opcode::tuple: return find_mark(begin) && make_tuple(begin);
    case Opcode::list:
    case Opcode::dict: {
      if (!find_mark(begin)) return false;
      const Value made = opcode == Opcode::list ? builder_.add_list() : builder_.add_dict();
      stack_.push(made);
      std::rotate(stack_.data() + begin, stack_.data() + stack_.size() - 1, stack_.data() + stack_.size());
      return opcode == Opcode::list ? append_items(begin + 1) : set_items(begin + 1);
    }
    default: return step_text_or_bytes(opcode);
  }
}

bool Machine::step_text_or_bytes(Opcode opcode) {
  switch (opcode) {
    case Opcode::binunicode: return push_text<std::uint32_t>();
    case Opcode::binunicode8: return push_text<std::uint64_t>();
    // Python 2's str, which holds its texts.
    case Opcode::short_binstring: return push_text<std::uint8_t>();
    case Opcode::binstring: return push_text<std::uint32_t>();
    case Opcode::short_binbytes: return push_bytes<std::uint8_t>();
    case Opcode::binbytes: return push_bytes<std::uint32_t>();
    case Opcode::binbytes8:
    case Opcode::bytearray8: return push_bytes<std::uint64_t>();
    default: return step_other(opcode);
  }
}

bool Machine::step_other(Opcode opcode) {
  switch (opcode) {
    case Opcode::none: return push(Value::none());
    case Opcode::new_true: return push(Value::boolean(true));
    case Opcode::new_false: return push(Value::boolean(false));
    case Opcode::binfloat: return push_float();
    case Opcode::long4: {
      std::uint32_t size = 0;
      return read_number(size) && push_long(size);
    }
    case Opcode::binput: {
      std::uint8_t number = 0;
      return read_number(number) && put(number);
    }
    case Opcode::long_binput: {
      std::uint32_t number = 0;
      return read_number(number) && put(number);
    }
    case Opcode::proto: {
      std::uint8_t protocol = 0;
      if (!read_number(protocol)) return false;
      if (protocol > 5)
        return fail(fmt::format("this pickle has protocol {}, which is newer than this version of hbmscope", protocol),
                    "Save the snapshot again with pickle.dump(snapshot, file, protocol=4).");
      protocol_ = protocol;
      return true;
    }
    case Opcode::frame: return check_frame();
    case Opcode::dup: return has_above_mark(1) && push(stack_.back());
    case Opcode::pop:
      // Python's own pickler never does this, but its loader removes a mark that has nothing above it.
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
        return true;
      }
      if (!has_above_mark(1)) return false;
      stack_.shrink(stack_.size() - 1);
      return true;
    case Opcode::pop_mark: {
      std::size_t begin = 0;
      if (!find_mark(begin)) return false;
      stack_.shrink(begin);
      return true;
    }
    case Opcode::stop:
      if (!marks_.empty()) return fail_damaged("STOP comes inside of something");
      static_cast<void>(has_above_mark(1));  // Reports the error if the stack is empty.
      return false;
    default: return fail_refused(opcode);
  }
}

bool Machine::read_bytes(std::uint64_t size, std::string_view& bytes) {
  if (size > bytes_left())
    return fail(fmt::format("{} claims {} bytes and {} are left", opcode_name(), size, bytes_left()),
                "The file was cut off while it was written or copied, or is damaged; save or copy it again.");
  if (size > 0xffffffff) return fail_damaged(fmt::format("{} has more than 4 GiB", opcode_name()));
  if (size > static_cast<std::uint64_t>(end_ - at_) && !fill_window(size)) return fail_cut_off();
  bytes = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(size)};
  at_ += size;
  return true;
}

// Drops everything before the current opcode.
bool Machine::fill_window(std::size_t bytes) {
  if (source_ != nullptr) {
    const auto before = static_cast<std::size_t>(at_ - opcode_at_), kept = static_cast<std::size_t>(end_ - opcode_at_);
    base_ = offset_of(opcode_at_);
    std::vector<std::uint8_t> larger;
    if (before + bytes > window_.size()) larger.resize(std::max(before + bytes, window_bytes));
    std::uint8_t* const begin = larger.empty() ? window_.data() : larger.data();
    if (kept > 0) std::memmove(begin, opcode_at_, kept);
    if (!larger.empty()) window_ = std::move(larger);
    const std::size_t got = source_->read(std::span(window_).subspan(kept));
    if (got < window_.size() - kept) {
      source_ = nullptr;
      total_ = base_ + kept + got;  // Regardless of the reported size.
    }
    begin_ = opcode_at_ = window_.data();
    at_ = begin_ + before;
    end_ = begin_ + kept + got;
    next_look_ = begin_;  // At the next opcode.
  }
  return static_cast<std::size_t>(end_ - at_) >= bytes;
}

template <class Unsigned>
bool Machine::push_text() {
  Unsigned size = 0;
  std::string_view text;
  return read_number(size) && read_bytes(size, text) && push(builder_.add_text(text));
}

template <class Unsigned>
bool Machine::push_bytes() {
  Unsigned size = 0;
  std::string_view bytes;
  return read_number(size) && read_bytes(size, bytes) && push(builder_.add_bytes(bytes));
}

bool Machine::push_float() {
  std::string_view bytes;
  if (!read_bytes(8, bytes)) return false;
  std::uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<std::uint8_t>(byte);  // The only big-endian argument.
  return push(builder_.add_real(std::bit_cast<double>(bits)));
}

// Two's complement, little-endian, as short as possible: an address above 2^63 has nine bytes, the last of which is 0.
bool Machine::push_long(std::uint64_t size) {
  std::string_view bytes;
  if (!read_bytes(size, bytes)) return false;
  if (bytes.empty()) return push(Value::small_integer(0));
  std::uint64_t bits = 0;
  // Optimised because every entry has addresses and times: loads eight bytes if possible, and shifts out those that
  // don't belong.
  if (reinterpret_cast<const char*>(end_) - bytes.data() >= 8)
    std::memcpy(&bits, bytes.data(), sizeof(bits));
  else
    std::memcpy(&bits, bytes.data(), bytes.size());
  if (bytes.size() <= 8) {
    const auto above = static_cast<unsigned>(64 - 8 * bytes.size());
    return push(builder_.add_integer(static_cast<std::int64_t>(bits << above) >> above));
  }
  const bool is_negative = static_cast<std::uint8_t>(bytes.back()) >= 0x80;
  const char extension = is_negative ? '\xff' : '\0';
  const bool all_extension = std::all_of(bytes.begin() + 8, bytes.end(), [&](char byte) { return byte == extension; });
  const bool sign_agrees = !is_negative || bits >> 63 == 1;
  return push(builder_.add_wide_integer({bits, is_negative, !all_extension || !sign_agrees}));
}

bool Machine::check_frame() {
  std::uint64_t size = 0;
  if (!read_number(size)) return false;
  // Frames only help streaming readers; a truncated beginning may end inside one.
  if (size <= bytes_left() || limits_.is_beginning) return true;
  return fail(fmt::format("FRAME claims {} bytes and {} are left", size, bytes_left()),
              "The file was cut off while it was written or copied; save or copy it again.");
}

bool Machine::find_mark(std::size_t& begin) {
  if (marks_.empty()) return fail_damaged(fmt::format("{} without a MARK", opcode_name()));
  begin = marks_.back();
  marks_.pop_back();
  return true;
}

bool Machine::append_items(std::size_t begin) {
  if (begin == 0 || begin > stack_.size() || !stack_[begin - 1].is(Tag::list))
    return fail_damaged(fmt::format("{} to something that is no list", opcode_name()));
  if (stack_[begin - 1] == wanted_list_) return take_items(begin);
  if (has_taken_ && !may_change(stack_[begin - 1])) return false;
  builder_.append(stack_[begin - 1], {stack_.data() + begin, stack_.size() - begin});
  stack_.shrink(begin);
  return true;
}

// Items of a list that the taker wants may begin here.
void Machine::note_mark() {
  if (stack_.size() == 0 || stack_.size() > waiting_max || !stack_.back().is(Tag::list) ||
      stack_.back() == wanted_list_ || !taker_->wants({stack_.data(), stack_.size()}))
    return;
  wanted_list_ = stack_.back();
  mark_items();
}

void Machine::mark_items() {
  before_items_ = builder_.mark();
  memo_before_items_ = memo_.size();
}

bool Machine::is_new(Value value) const {
  return (value.is(Tag::dict) && value.number() >= before_items_.dicts) ||
         (value.is(Tag::list) && value.number() >= before_items_.lists);
}

bool Machine::take_items(std::size_t begin) {
  const std::span<const Value> waiting(stack_.data(), begin), items(stack_.data() + begin, stack_.size() - begin);
  // An incomplete item, which must be older than the items.
  const auto waits = [&](Value item) {
    return !is_new(item) && std::find(waiting.begin(), waiting.end(), item) != waiting.end();
  };
  if (builder_.has_unfinished_dicts() || begin > waiting_max || std::any_of(items.begin(), items.end(), waits) ||
      !taker_->take(waiting, items)) {
    taker_->give_up();
    return fail("items can't be taken", {});
  }
  // Only if nothing can refer to them later: no waiting value, and nothing older, which has been checked since the
  // first time.
  const bool is_alone = std::none_of(waiting.begin(), waiting.end(), [&](Value value) { return is_new(value); });
  if (has_taken_ && !has_grown_ && is_alone && builder_.forget(before_items_, items))
    for (std::size_t i = memo_before_items_; i < memo_.size(); ++i)
      if (is_new(memo_[i])) memo_[i] = Value::missing();
  has_taken_ = true;
  mark_items();
  stack_.shrink(begin);
  return true;
}

// Containers that existed when items were taken may be part of an item.
bool Machine::may_change(Value container) {
  const std::uint32_t known = container.is(Tag::list) ? before_items_.lists : before_items_.dicts;
  if (container.number() >= known) return true;
  has_grown_ = true;
  if (taker_->waits_for(container)) return true;
  taker_->give_up();
  return fail("something changes that was taken", {});
}

bool Machine::set_items(std::size_t begin) {
  if (begin == 0 || !stack_[begin - 1].is(Tag::dict))
    return fail_damaged(fmt::format("{} on something that is no dict", opcode_name()));
  if ((stack_.size() - begin) % 2 != 0) return fail_damaged(fmt::format("{}: a key without a value", opcode_name()));
  if (has_taken_ && !may_change(stack_[begin - 1])) return false;
  builder_.set_items(stack_[begin - 1], {stack_.data() + begin, stack_.size() - begin});
  stack_.shrink(begin);
  return true;
}

// The opcodes that would have filled it and ended the pickle are missing.
bool Machine::close_outermost_dict() {
  if (marks_.size() != 1) return false;
  const std::size_t begin = marks_.back();
  marks_.pop_back();
  return set_items(begin) && stack_.size() == 1;
}

bool Machine::make_tuple(std::size_t begin) {
  const Value tuple = builder_.add_tuple({stack_.data() + begin, stack_.size() - begin});
  stack_.shrink(begin);
  return push(tuple);
}

bool Machine::put(std::uint64_t number) {
  if (number == memo_.size()) return memoize();
  if (!has_above_mark(1)) return false;
  // Picklers number sequentially. Tools that drop unused entries may leave gaps, but no larger ones.
  if (number >= total_)
    return fail_damaged(fmt::format("{} {}, more than there are bytes in the file", opcode_name(), number));
  if (number > memo_.size()) memo_.grow(number + 1, Value::missing());
  memo_[number] = stack_.back();
  memo_before_items_ = std::min(memo_before_items_, static_cast<std::size_t>(number));
  return true;
}

// Called now and then, at an opcode: ensures that its number is in the window, and reports progress.
bool Machine::look() {
  if (source_ != nullptr && end_ - at_ < fixed_bytes_max) fill_window(fixed_bytes_max);
  next_look_ = source_ != nullptr ? end_ - fixed_bytes_max : end_ - at_ > progress_bytes ? at_ + progress_bytes : end_;
  if (control_ == nullptr) return true;
  control_->done_bytes = offset_of(at_);
  return (!control_->cancelled && !control_->stop_here) || fail("reading was cancelled", {});
}

}  // namespace hbmscope::pickle
