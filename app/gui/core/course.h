// Fills the columns of a picture from values that change over time. Values are added in time order, and each holds
// until the next change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hbmscope::gui {

// `Value` has add(Value). A column combines all values that held in it.
template <class Value>
class Course {
 public:
  // `first`: the value at the start of the columns.
  Course(std::vector<Value>& columns, std::size_t count, const Value& first) : columns_(columns), now_(first) {
    columns_.assign(count, first);
  }

  // If the clock steps back a little, the value goes to the current column. `last`: the value that holds after `range`.
  void add(const Value& range, const Value& last, std::size_t column) {
    go_to(column);
    columns_[at_].add(range);
    now_ = last;
  }
  // Extends the current value up to and including `column`, and returns that column.
  Value& go_to(std::size_t column) {
    while (at_ < column) columns_[++at_] = now_;
    return columns_[at_];
  }
  void finish() { go_to(columns_.size() - 1); }
  Value& now() { return now_; }

 private:
  std::vector<Value>& columns_;
  Value now_;
  std::size_t at_ = 0;
};

}  // namespace hbmscope::gui
