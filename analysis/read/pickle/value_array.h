// A growing array of values for the machine's stack and memo. Like std::vector, but with an inlined push, and without
// touching capacity before it is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "analysis/read/pickle/value.h"

namespace hbmscope::pickle {

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

}  // namespace hbmscope::pickle
