#include "app/gui/core/amounts.h"

#include "analysis/units/format.h"

namespace hbmscope::gui {
std::string amount_text(std::string_view unit, std::int64_t amount) {
  return text_from_value(amount, unit);
}

std::string exact_amount_text(std::string_view unit, std::int64_t amount) {
  if (unit == "bytes") return exact_text_from_bytes(amount);
  return exact_text_from_count(amount) + " " + std::string(unit);
}

std::string delta_amount_text(std::string_view unit, std::int64_t amount) {
  if (unit == "bytes") return delta_text_from_bytes(amount);
  return amount > 0 ? "+" + amount_text(unit, amount) : amount_text(unit, amount);
}

std::string amount_text(const ProfileView& view, std::int64_t amount) {
  return amount_text(unit_of_amounts(view), amount);
}
std::string exact_amount_text(const ProfileView& view, std::int64_t amount) {
  return exact_amount_text(unit_of_amounts(view), amount);
}
std::string delta_amount_text(const ProfileView& view, std::int64_t amount) {
  return delta_amount_text(unit_of_amounts(view), amount);
}

std::string amount_title(const ProfileView& view) {
  const auto& types = view.profile->value_types;
  if (view.columns.bytes || view.columns.primary >= types.size()) return "Bytes";
  const ValueType& type = types[view.columns.primary];
  return std::string(view.profile->text(type.type)) + " (" + std::string(view.profile->text(type.unit)) + ")";
}

std::string value_text(const ProfileView& view, const Weight& weight, FlameValue value) {
  return value == FlameValue::bytes ? amount_text(view, weight.bytes) : text_from_count(weight.count);
}

std::string base_text(const ProfileView& view, FlameValue value) {
  return "of " + value_text(view, view.total, value) + (value == FlameValue::bytes ? "" : " allocations") + " in total";
}

}  // namespace hbmscope::gui
