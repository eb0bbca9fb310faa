#include "analysis/write/flame_svg.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/document/html.h"
#include "analysis/query/flame.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/write.h"

namespace hbmscope {
namespace {

constexpr int row_px = 18;
constexpr double char_px = 6.6;  // Average width in the 11 px font below.

// The user's code is coloured by file, libraries are grey. The hues are the light theme's categories in the window.
constexpr std::array<const char*, 6> hues = {"#4C84DB", "#57A079", "#C4661A", "#C6B04A", "#94375F", "#3CBDE6"};
constexpr const char* library_fill = "#C9CFD6";

const char* fill_of(const Frame& frame) {
  if (frame.is_library) return library_fill;
  std::uint32_t hash = 2166136261U;
  for (const char c : frame.file) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return hues[hash % hues.size()];
}

// Truncates to the width at a character boundary, with an ellipsis.
std::string fitting(const std::string& text, double width_px) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (width_px - 6) / char_px));
  std::size_t characters = 0, at = 0;
  const auto is_inner = [&](std::size_t i) { return (static_cast<std::uint8_t>(text[i]) & 0xc0) == 0x80; };
  while (at < text.size()) {
    if (characters == room) break;
    ++at;
    while (at < text.size() && is_inner(at)) ++at;
    ++characters;
  }
  if (at == text.size()) return text;
  if (room < 3) return {};
  std::size_t cut = 0;
  for (std::size_t k = 0; k + 1 < room; ++k) {
    ++cut;
    while (cut < text.size() && is_inner(cut)) ++cut;
  }
  return text.substr(0, cut) + "…";
}

}  // namespace

namespace {

// A box's tooltip: who, where, how much of what.
std::string title_of(const Frame& frame, const Weight& weight, std::int64_t whole, std::string_view unit) {
  std::string title = frame.function;
  if (!frame.file.empty())
    title += fmt::format("\n{}{}", frame.file, frame.line > 0 ? fmt::format(":{}", frame.line) : "");
  return title + fmt::format("\n{}, {} of {}, count {}", text_from_value(weight.bytes, unit),
                             text_from_share(weight.bytes, whole), text_from_value(whole, unit),
                             text_from_count(weight.count));
}

std::string box_of(const Frame& frame, const std::string& title, double begin, double share, std::size_t depth,
                   int width_px) {
  const double x = begin * width_px, width = share * width_px;
  return fmt::format(
             "<g class=\"box\" data-x=\"{:.6f}\" data-w=\"{:.6f}\" data-d=\"{}\"><title>{}</title><rect x=\"{:.2f}\" "
             "y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"/>",
             begin, share, depth, xml_escaped(title), x, depth * row_px, std::max(0.3, width - 0.5), row_px - 1,
             fill_of(frame)) +
         fmt::format("<text x=\"{:.2f}\" y=\"{}\" data-n=\"{}\">{}</text></g>\n", x + 3, depth * row_px + 13,
                     xml_escaped(frame.function), xml_escaped(fitting(valid_utf8(frame.function), width)));
}

}  // namespace

std::string write_flame_svg(const ProfileView& view, const FlameSvgOptions& options) {
  const std::optional<CallTree> tree = compute_call_tree(view, TreeDirection::callees);
  const FlameLayout layout = compute_flame_layout(*tree, FlameValue::bytes);
  const std::string_view unit = view.profile->text(view.profile->value_types[view.columns.primary].unit);
  const Frame root{"all", {}, 0, true};

  std::string boxes;
  std::size_t left_out = 0, deepest = 0;
  for (std::size_t depth = 0; depth < layout.rows.size(); ++depth) {
    for (const std::uint32_t number : layout.rows[depth]) {
      const double share = layout.end[number] - layout.begin[number];
      if (share < options.smallest_share) {
        ++left_out;
        continue;
      }
      deepest = depth;
      const TreeNode& node = tree->nodes[number];
      const Frame& frame = number == 0 ? root : view.frames[row(node.frame)];
      boxes += box_of(frame, title_of(frame, node.cum, tree->nodes[0].cum.bytes, unit), layout.begin[number], share,
                      depth, options.width_px);
    }
  }
  const std::size_t height = (deepest + 1) * row_px + (left_out > 0 ? row_px : 0);
  std::string svg;
  if (options.is_standalone) svg += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  svg += fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n",
      options.width_px, height, options.width_px, height);
  if (options.is_standalone) svg += "<rect width=\"100%\" height=\"100%\" fill=\"#F6F7F9\"/>\n";
  svg += boxes;
  if (left_out > 0)
    svg += fmt::format("<text x=\"3\" y=\"{}\" fill=\"#56616D\">{} boxes narrower than {} are hidden</text>\n",
                       height - 5, text_from_count(static_cast<std::int64_t>(left_out)),
                       text_from_fraction(options.smallest_share, 2));
  return svg + "</svg>\n";
}

std::string write_svg(const ProfileView& view) {
  return write_flame_svg(view, {});
}

}  // namespace hbmscope
