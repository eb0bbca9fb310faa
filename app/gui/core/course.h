// What was the case over the columns of a picture, told in the order of time: what is told stays the case until the
// next change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hbmscope::gui {

// `Value` has add(Value): a column is all that was the case in it.
template <class Value>
class Course {
 public:
  // `first`: what is the case as the columns begin.
  Course(std::vector<Value>& columns, std::size_t count, const Value& first) : columns_(columns), now_(first) {
    columns_.assign(count, first);
  }

  // A clock that steps back a little stays in the column where it was. `last`: what is the case after `range`.
  void add(const Value& range, const Value& last, std::size_t column) {
    go_to(column);
    columns_[at_].add(range);
    now_ = last;
  }
  // Extends what is the case up to and with the column, which comes back.
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
