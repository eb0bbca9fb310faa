#include "app/cli/tpu/tpu_fit_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t shown_max = 20;

std::string file_name_of_program(const JudgedProgram& program) {
  return std::filesystem::path(program.file).filename().string();
}

// The module's name, or the file's where several have that name.
std::vector<std::string> labels_of(const std::vector<JudgedProgram>& programs) {
  std::map<std::string, int> times;
  for (const JudgedProgram& program : programs) ++times[program.name];
  std::vector<std::string> labels;
  for (const JudgedProgram& program : programs)
    labels.push_back(
        printable(program.name.empty() || times[program.name] > 1 ? file_name_of_program(program) : program.name));
  return labels;
}

std::string joined_targets(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

// "All fit on v4 and v5p. Not all fit on v5e."
std::string verdict_of(const std::vector<JudgedProgram>& programs) {
  std::vector<std::string> all, some, unknown;
  for (std::size_t i = 0; i < programs.front().rows.size(); ++i) {
    const auto is = [&](auto accept) {
      return std::any_of(programs.begin(), programs.end(), [&](const auto& one) { return accept(one.rows[i].fits); });
    };
    const bool has_large = is([](std::optional<bool> fits) { return fits && !*fits; });
    const bool has_unknown = is([](std::optional<bool> fits) { return !fits; });
    (has_large ? some : has_unknown ? unknown : all).push_back(programs.front().rows[i].target);
  }
  const bool is_one = programs.size() == 1;
  std::string text;
  if (!some.empty()) text += fmt::format(" {} on {}.", is_one ? "Does not fit" : "Not all fit", joined_targets(some));
  if (!unknown.empty()) text += fmt::format(" Unknown for some on {}.", joined_targets(unknown));
  if (!all.empty()) text += fmt::format(" {} on {}.", is_one ? "Fits" : "All fit", joined_targets(all));
  return text;
}

std::string cell_of(const FitRow& row, std::size_t width, const Terminal& terminal) {
  const std::string text = pad_left(!row.fits ? "?" : *row.fits ? "yes" : "no", width);
  return terminal.paint(text, !row.fits ? Ink::dim : *row.fits ? Ink::good : Ink::bad);
}

}  // namespace

void sort_by_need(std::vector<JudgedProgram>& programs) {
  std::stable_sort(programs.begin(), programs.end(), [](const JudgedProgram& a, const JudgedProgram& b) {
    return a.needed_bytes.has_value() != b.needed_bytes.has_value() ? !a.needed_bytes : a.needed_bytes > b.needed_bytes;
  });
}

std::string text_from_folder(const std::string& folder, const std::vector<JudgedProgram>& programs,
                             const Terminal& terminal) {
  std::string text =
      terminal.paint(printable(folder), Ink::bold) +
      fmt::format(": {}, the largest first.{}\n", text_from_count_of(programs.size(), "program"), verdict_of(programs));
  const std::vector<std::string> labels = labels_of(programs);
  const std::size_t shown = std::min(programs.size(), shown_max);
  std::size_t width = 7;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, display_width(labels[i]));
  const auto width_of = [](const FitRow& row) {
    return std::max<std::size_t>(3, display_width(printable(row.target)));
  };
  std::string head = pad_right("program", width) + fmt::format("  {:>10}", "needed");
  for (const FitRow& row : programs.front().rows) head += "  " + pad_left(printable(row.target), width_of(row));
  text += terminal.paint(head, Ink::dim) + "\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const auto needed = programs[i].needed_bytes;
    text += pad_right(labels[i], width) + "  " + pad_left(needed ? text_from_bytes(*needed) : "?", 10);
    for (const FitRow& row : programs[i].rows) text += "  " + cell_of(row, width_of(row), terminal);
    text += "\n";
  }
  if (shown < programs.size())
    text += fmt::format("and {}, which need less\n", text_from_count_of(programs.size() - shown, "more"));
  for (const JudgedProgram& program : programs)
    if (!program.needed_bytes)
      text += fmt::format("{}: {}\n", printable(file_name_of_program(program)), printable(program.rows.front().room));
  const auto largest =
      std::find_if(programs.begin(), programs.end(), [](const auto& one) { return one.needed_bytes.has_value(); });
  return largest == programs.end() ? text : text + "\n" + largest->text;
}

}  // namespace hbmscope::cli
