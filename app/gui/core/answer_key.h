// Identifies an answer: its type and everything that it depends on. Equal keys mean equal answers, so a computed answer
// is found again when the user goes back.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "app/gui/core/view_position.h"

namespace hbmscope::gui {

// What an answer depends on apart from source, filter and time: a value of any type that has ==, such as a HeapKey or a
// struct beside the function that asks.
class AnswerOptions {
 public:
  AnswerOptions() = default;
  template <class T>
  requires(!std::same_as<T, AnswerOptions>) AnswerOptions(T options)
      : type_(&typeid(T)), value_(std::make_shared<const T>(std::move(options))), are_equal_(&are_equal<T>) {}

  template <class T>
  const T* as() const {  // Null: they have another type.
    return type_ != nullptr && *type_ == typeid(T) ? static_cast<const T*>(value_.get()) : nullptr;
  }
  bool operator==(const AnswerOptions& other) const;

 private:
  template <class T>
  static bool are_equal(const void* a, const void* b) {
    return *static_cast<const T*>(a) == *static_cast<const T*>(b);
  }

  const std::type_info* type_ = nullptr;
  std::shared_ptr<const void> value_;
  bool (*are_equal_)(const void* a, const void* b) = nullptr;
};

struct AnswerKey {
  SourceId source = SourceId::none;
  AnswerOptions options = {};
  MomentName at = {};        // The time in a trace, if the answer depends on it.
  ViewRequest request = {};  // The filter, if the answer depends on it.
  SourceId baseline = SourceId::none;
  // The type of the answer's value; Answering::ask sets it. Null if there is no question.
  const std::type_info* type = nullptr;

  bool operator==(const AnswerKey& other) const;
};

// Hashes the type, the sources and the time: most keys differ in one of these.
struct AnswerKeyHash {
  std::size_t operator()(const AnswerKey& key) const;
};

}  // namespace hbmscope::gui
