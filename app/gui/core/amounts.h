// How much, as text, in the unit that the profile has: bytes for memory, whatever its primary value is for the rest
// (nanoseconds of a CPU profile). Every view goes through here, so that no two of them round a figure differently.
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

// The same for figures that stand beside no view; `unit` is ProfileSummary::unit.
std::string amount_text(std::string_view unit, std::int64_t amount);
std::string exact_amount_text(std::string_view unit, std::int64_t amount);
std::string delta_amount_text(std::string_view unit, std::int64_t amount);

// The part of a weight that a picture is drawn by.
inline std::int64_t value_of(const Weight& weight, FlameValue value) {
  return value == FlameValue::bytes ? weight.bytes : weight.count;
}
std::string value_text(const ProfileView& view, const Weight& weight, FlameValue value);

// "of 11.8 GiB in all": what every percentage of a view is of.
std::string base_text(const ProfileView& view, FlameValue value = FlameValue::bytes);

}  // namespace hbmscope::gui
