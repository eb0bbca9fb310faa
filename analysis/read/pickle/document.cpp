#include "analysis/read/pickle/document.h"

#include <cstdlib>

namespace hbmscope::pickle {

void Document::FreeValues::operator()(Value* values) const {
  std::free(values);
}

std::optional<Integer> Document::integer(Value value) const {
  if (value.is(Value::Tag::small_integer))
    return Integer{static_cast<std::uint64_t>(value.as_small()), value.as_small() < 0, false};
  if (value.is(Value::Tag::wide_integer)) return wide_integers_[value.number()];
  if (value.is_boolean()) return Integer{value.is_true() ? 1U : 0U, false, false};
  return std::nullopt;
}

std::optional<double> Document::real(Value value) const {
  if (!value.is(Value::Tag::real)) return std::nullopt;
  return reals_[value.number()];
}

std::optional<std::string_view> Document::text(Value value) const {
  if (!value.is(Value::Tag::text)) return std::nullopt;
  return std::string_view{texts_[value.number()].begin, texts_[value.number()].size};
}

std::optional<std::span<const std::uint8_t>> Document::bytes(Value value) const {
  if (!value.is(Value::Tag::bytes)) return std::nullopt;
  const Text& text = texts_[value.number()];
  return std::span<const std::uint8_t>{reinterpret_cast<const std::uint8_t*>(text.begin), text.size};
}

std::optional<std::uint32_t> Document::find_key(ShapeNumber shape, std::string_view key) const {
  const std::span<const Value> all = keys(shape);
  for (std::size_t i = all.size(); i > 0; --i)
    if (text(all[i - 1]) == key) return static_cast<std::uint32_t>(i - 1);
  return std::nullopt;
}

Value Document::find(Value value, std::string_view key) const {
  if (!value.is(Value::Tag::dict)) return Value::missing();
  const auto at = find_key(shape(value), key);
  return at ? values(value)[*at] : Value::missing();
}

}  // namespace hbmscope::pickle
