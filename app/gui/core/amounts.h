// Amounts as text in the profile's unit: bytes for memory, otherwise the unit of its primary value (nanoseconds for a
// CPU profile). All views use these functions, so that every figure is rounded in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/query/flame.h"
#include "analysis/query/profile_view.h"

namespace hbmscope::gui {

std::string amount_text(const ProfileView& view, std::int64_t amount);        // "2.10 GiB"
std::string exact_amount_text(const ProfileView& view, std::int64_t amount);  // "2,254,857,830 B"
std::string delta_amount_text(const ProfileView& view, std::int64_t amount);  // "+2.10 GiB"
std::string amount_title(const ProfileView& view);                            // "Bytes", "cpu (nanoseconds)"

// The same for figures without a view; `unit` is ProfileSummary::unit.
std::string amount_text(std::string_view unit, std::int64_t amount);
std::string exact_amount_text(std::string_view unit, std::int64_t amount);
std::string delta_amount_text(std::string_view unit, std::int64_t amount);

// The part of a weight that the picture shows.
inline std::int64_t value_of(const Weight& weight, FlameValue value) {
  return value == FlameValue::bytes ? weight.bytes : weight.count;
}
std::string value_text(const ProfileView& view, const Weight& weight, FlameValue value);

// The total that the view's percentages refer to: "of 11.8 GiB in all".
std::string base_text(const ProfileView& view, FlameValue value = FlameValue::bytes);

}  // namespace hbmscope::gui
