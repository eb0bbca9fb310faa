#include "app/gui/sources/moment_name.h"

#include <charconv>
#include <optional>

namespace hbmscope::gui {
namespace {

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Parses "#4711" or "2#4711". Any other text is kept unchanged, so that an error can repeat it.
std::optional<StreamPosition> parse_position(std::string_view text) {
  const std::size_t mark = text.find('#');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto position = parse_whole(text.substr(mark + 1));
  const auto stream = mark == 0 ? std::optional<std::uint64_t>(1) : parse_whole(text.substr(0, mark));
  if (!position || !stream || *stream == 0) return std::nullopt;
  return StreamPosition{static_cast<std::size_t>(*stream - 1), *position, mark == 0, {}};
}

}  // namespace

MomentName::MomentName(std::string_view text) {
  if (const auto position = parse_position(text))
    value_ = *position;
  else
    value_ = std::string(text);
}

bool MomentName::empty() const {
  const auto* words = std::get_if<std::string>(&value_);
  return words != nullptr && words->empty();
}

std::optional<std::int64_t> MomentName::clicked_at() const {
  const auto* at = std::get_if<StreamPosition>(&value_);
  return at == nullptr ? std::nullopt : at->clicked_at;
}

std::string MomentName::text() const {
  if (const auto* words = std::get_if<std::string>(&value_)) return *words;
  const auto& at = std::get<StreamPosition>(value_);
  return (at.is_only_stream ? std::string() : std::to_string(at.stream + 1)) + "#" + std::to_string(at.position);
}

Result<Moment> MomentName::find_in(const Trace& trace) const {
  const auto* at = std::get_if<StreamPosition>(&value_);
  // A position from a trace with another number of streams fails with the error that explains why.
  if (at == nullptr || at->stream >= trace.streams.size() || at->is_only_stream != (trace.streams.size() == 1))
    return find_moment(trace, text());
  return find_moment(trace, at->stream, at->position, at->clicked_at);
}

}  // namespace hbmscope::gui
