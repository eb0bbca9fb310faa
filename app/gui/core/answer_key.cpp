#include "app/gui/core/answer_key.h"

#include <functional>

namespace hbmscope::gui {

std::size_t AnswerKeyHash::operator()(const AnswerKey& key) const {
  std::size_t hash = key.options.index();
  const auto mix = [&](std::size_t value) { hash = hash * 1'099'511'628'211u + value; };
  mix(static_cast<std::size_t>(key.source));
  mix(static_cast<std::size_t>(key.baseline));
  mix(std::hash<std::string>{}(key.at.text()));
  return hash;
}

}  // namespace hbmscope::gui
