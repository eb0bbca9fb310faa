#include "app/gui/core/place_text.h"

#include <charconv>

#include "app/gui/core/span_text.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return address;
}

std::optional<PlaceToSelect> parse_place(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(slash == std::string_view::npos ? text : text.substr(slash + 1));
  if (!address) return std::nullopt;
  PlaceToSelect place{*address};
  if (slash != std::string_view::npos) place.heap = parse_heap_key(text.substr(0, slash));
  return place;
}

std::optional<AddressRange> parse_addresses(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = parse_address(text.substr(0, dash)), end = parse_address(text.substr(dash + 1));
  if (!begin || !end || *begin >= *end) return std::nullopt;
  return AddressRange{*begin, *end};
}

std::string text_from_addresses(AddressRange range) {
  return address_text(range.begin) + "-" + address_text(range.end);
}

}  // namespace hbmscope::gui
