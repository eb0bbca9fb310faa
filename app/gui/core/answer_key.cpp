#include "app/gui/core/answer_key.h"

#include <functional>
#include <string>

namespace hbmscope::gui {
namespace {

bool is_same(const std::type_info* a, const std::type_info* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

}  // namespace

bool AnswerOptions::operator==(const AnswerOptions& other) const {
  return is_same(type_, other.type_) && (value_ == other.value_ || are_equal_(value_.get(), other.value_.get()));
}

bool AnswerKey::operator==(const AnswerKey& other) const {
  return is_same(type, other.type) && source == other.source && baseline == other.baseline && at == other.at &&
         request == other.request && options == other.options;
}

std::size_t AnswerKeyHash::operator()(const AnswerKey& key) const {
  std::size_t hash = key.type == nullptr ? 0 : key.type->hash_code();
  const auto mix = [&](std::size_t value) { hash = hash * 1'099'511'628'211u + value; };
  mix(static_cast<std::size_t>(key.source));
  mix(static_cast<std::size_t>(key.baseline));
  mix(std::hash<std::string>{}(key.at.text()));
  return hash;
}

}  // namespace hbmscope::gui
