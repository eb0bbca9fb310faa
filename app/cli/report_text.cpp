#include "app/cli/report_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/query/short_name.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope::cli {
namespace {

std::string value_text(std::int64_t value, const ReportStyle& style) {
  return text_from_value(value, style.unit);
}

std::string unknown_text(std::int64_t unknown) {
  return unknown == 0 ? "" : fmt::format("+ {} of unknown size", text_from_count(unknown));
}

std::size_t row_limit(std::size_t count, const ReportStyle& style) {
  return style.top == 0 ? count : std::min(count, style.top);
}

std::string rest_line(std::size_t shown, std::size_t count, std::string_view what, const ReportStyle& style) {
  if (shown == count) return {};
  const auto number = [](std::size_t n) { return text_from_count(n); };
  return style.terminal.paint(fmt::format("{} of {} {}; --top 0 prints all", number(shown), number(count), what),
                              Ink::dim) +
         "\n";
}

std::string group_name(const GroupRow& group) {
  if (!group.name) return "(unknown)";
  return printable(*group.name);
}

}  // namespace

std::string text_from_frame(const Frame& frame, const Terminal& terminal, std::size_t width) {
  const std::string function = printable(short_name_of_function(frame.function));
  std::string where = printable(frame.file);
  if (!where.empty() && frame.line > 0) where += fmt::format(":{}", frame.line);
  const std::size_t used = display_width(function) + 2;
  if (width > used + 8) where = fit_end(where, width - used);
  std::string name = terminal.paint(function, frame.is_library ? Ink::dim : Ink::plain);
  if (where.empty() || frame.file == frame.function) return name;
  return name + "  " + terminal.paint(where, Ink::dim);
}

std::string text_from_summary(const ProfileSummary& summary, const ProfileView& view, const ReportStyle& style) {
  const Terminal& terminal = style.terminal;
  std::string text = terminal.paint(printable(summary.headline), Ink::bold) + "\n";
  if (view.is_filtered)
    text += fmt::format("Filtered: {} of {} ({}).\n", value_text(view.selected.bytes, style),
                        value_text(view.total.bytes, style), text_from_share(view.selected.bytes, view.total.bytes));
  for (const std::string& note : summary.notes) text += terminal.paint(note, Ink::dim) + "\n";
  const auto has_names = [](const std::vector<GroupRow>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const GroupRow& r) { return r.name.has_value(); });
  };
  if (has_names(summary.by_device)) text += "\n" + text_from_groups(summary.by_device, "device", style);
  if (has_names(summary.by_kind)) text += "\n" + text_from_groups(summary.by_kind, "kind", style);
  return text;
}

std::string text_from_groups(const std::vector<GroupRow>& rows, std::string_view head, const ReportStyle& style) {
  const Terminal& terminal = style.terminal;
  // Devices and kinds are few and are always shown; a label can have a million values.
  const bool has_limit = head != "device" && head != "kind" && !rows.empty();
  const std::size_t named = rows.size() - (has_limit && !rows.back().name ? 1 : 0);
  const std::size_t shown = has_limit ? row_limit(named, style) : named;
  std::vector<const GroupRow*> printed;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i < shown || i >= named) printed.push_back(&rows[i]);
  std::size_t width = head.size();
  for (const GroupRow* group : printed) width = std::max(width, display_width(group_name(*group)));
  std::string text = terminal.paint(fmt::format("{}  {:>10}  {:>8}  {:>10}", pad_right(head, width),
                                                style.unit.empty() ? "value" : style.unit, "share", "count"),
                                    Ink::dim) +
                     "\n";
  for (const GroupRow* printed_group : printed) {
    const GroupRow& group = *printed_group;
    std::string line = fmt::format(
        "{}  {:>10}  {}  {:>10}", pad_right(group_name(group), width), value_text(group.weight.bytes, style),
        pad_left(text_from_share(group.weight.bytes, style.whole), 8), text_from_count(group.weight.count));
    const std::string extra = unknown_text(group.weight.unknown);
    const std::string bar = terminal.bar(group.weight.bytes, style.whole, 24);
    if (!extra.empty()) line += "  " + extra;
    if (!bar.empty()) line += "  " + bar;
    text += line + "\n";
  }
  return text + rest_line(shown, named, "values", style);
}

std::string text_from_tree(const ProfileView& view, const CallTree& tree, const ReportStyle& style) {
  const Terminal& terminal = style.terminal;
  // As in pprof: with nodes below half a percent, a tree is unreadable.
  const std::int64_t smallest = style.top == 0 ? 0 : tree.nodes[0].cum.bytes / 200;
  std::string text =
      terminal.paint(fmt::format("{:>10} {:>8}  {:>10}  {}  (% of {})", "cum", "cum %", "flat",
                                 tree.direction == TreeDirection::callees ? "call tree, outermost frame first"
                                                                          : "bottom-up, innermost frame first",
                                 style.whole_text),
                     Ink::dim) +
      "\n";
  std::size_t left_out = 0;
  std::vector<std::uint32_t> todo = {0};
  while (!todo.empty()) {
    const std::uint32_t number = todo.back();
    todo.pop_back();
    const TreeNode& node = tree.nodes[number];
    if (number != 0 && node.cum.bytes < smallest) {
      ++left_out;
      continue;
    }
    text += fmt::format("{:>10} {}  {:>10}  {}{}\n", value_text(node.cum.bytes, style),
                        pad_left(text_from_share(node.cum.bytes, style.whole), 8),
                        node.flat.bytes == 0 ? "" : value_text(node.flat.bytes, style),
                        std::string(std::min<std::size_t>(node.depth, 60), ' '),
                        number == 0 ? "all" : text_from_frame(view.frames[row(node.frame)], terminal));
    std::vector<std::uint32_t> children;
    for (std::uint32_t child = node.first_child; child != no_node; child = tree.nodes[child].next_sibling)
      children.push_back(child);
    todo.insert(todo.end(), children.rbegin(), children.rend());
  }
  if (left_out > 0)
    text +=
        terminal.paint(fmt::format("{} branches below 0.5 % are hidden; --top 0 prints all", text_from_count(left_out)),
                       Ink::dim) +
        "\n";
  return text;
}

std::string text_from_neighbours(const ProfileView& view, const Neighbours& neighbours, const ReportStyle& style) {
  const Terminal& terminal = style.terminal;
  const auto line = [&](const TopRow& top, const char* arrow) {
    return fmt::format("{:>10} {}  {:>10}  {} {}\n", value_text(top.cum.bytes, style),
                       pad_left(text_from_share(top.cum.bytes, neighbours.self.cum.bytes), 8),
                       text_from_count(top.cum.count), arrow, text_from_frame(view.frames[row(top.frame)], terminal));
  };
  std::string text;
  for (const TopRow& caller : neighbours.callers) text += line(caller, "  from");
  text += fmt::format("{:>10} {}  {:>10}  {}  (flat {})\n", value_text(neighbours.self.cum.bytes, style),
                      pad_left(text_from_share(neighbours.self.cum.bytes, style.whole), 8),
                      text_from_count(neighbours.self.cum.count),
                      terminal.paint(printable(view.frames[row(neighbours.self.frame)].function), Ink::bold) + "  " +
                          printable(view.frames[row(neighbours.self.frame)].file),
                      value_text(neighbours.self.flat.bytes, style));
  for (const TopRow& callee : neighbours.callees) text += line(callee, "  into");
  return text;
}

std::string text_from_import_badge(const ImportStatistics& import, const Terminal& terminal) {
  std::string text;
  for (const ImportStatistic& statistic : import.rows()) {
    if (statistic.severity < Severity::warning) continue;
    text += terminal.paint(fmt::format("{}: {} {}. {}", text_from_severity(statistic.severity),
                                       text_from_count(statistic.count), statistic.name, statistic.remedy),
                           Ink::bad) +
            "\n";
  }
  return text;
}

}  // namespace hbmscope::cli
