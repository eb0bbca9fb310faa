#include "analysis/model/string_table.h"

#include <functional>

namespace hbmscope {

StringTable::StringTable() {
  append({});
}

std::string_view StringTable::text(StringId id) const {
  const std::size_t i = row(id);
  const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  return {bytes_.data() + begin, ends_[i] - begin};
}

StringId StringTable::append(std::string_view text) {
  bytes_.append(text);
  ends_.push_back(bytes_.size());
  const auto id = static_cast<StringId>(ends_.size() - 1);
  if (!slots_.empty()) insert_slot(id);
  return id;
}

StringId StringTable::intern(std::string_view text) {
  if (slots_.empty()) rehash(1024);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = std::hash<std::string_view>{}(text)&mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const auto id = static_cast<StringId>(slots_[slot] - 1);
    if (this->text(id) == text) return id;
  }
  return append(text);
}

StringId StringTable::find(std::string_view text) const {
  for (std::size_t i = 0; i < ends_.size(); ++i)
    if (this->text(static_cast<StringId>(i)) == text) return static_cast<StringId>(i);
  return StringId::empty;
}

void StringTable::reserve(std::size_t strings, std::size_t bytes) {
  ends_.reserve(strings);
  bytes_.reserve(bytes);
}

void StringTable::insert_slot(StringId id) {
  if (ends_.size() * 2 > slots_.size()) return rehash(slots_.size() * 2);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(text(id)) & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = static_cast<std::uint32_t>(id) + 1;
}

void StringTable::rehash(std::size_t slots) {
  while (slots < ends_.size() * 2) slots *= 2;
  slots_.assign(slots, 0);
  const std::size_t mask = slots - 1;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    std::size_t slot = std::hash<std::string_view>{}(text(static_cast<StringId>(i))) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i) + 1;
  }
}

}  // namespace hbmscope
