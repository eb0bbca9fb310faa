#include "analysis/read/source/dump_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "analysis/read/decompress.h"
#include "analysis/units/ascii.h"

namespace hbmscope {
namespace {

constexpr std::string_view module_word = "module_";

struct Ending {
  std::string_view text;
  DumpContent content;
};
constexpr std::array endings = {
    Ending{"buffer-assignment.txt", DumpContent::assignment_text},
    Ending{"serialized_buffer_assignment.pb", DumpContent::assignment},
    Ending{"memory-usage-report.pb", DumpContent::usage_report},
    Ending{"memory-usage-report.txt", DumpContent::usage_report_text},
    Ending{"live-range.txt", DumpContent::live_ranges},
};

bool is_number_of_pass(std::string_view part) {
  constexpr std::size_t digits = 4;
  return part.size() == digits && std::all_of(part.begin(), part.end(), is_digit);
}

// After "module_0042.jit_step", if the name has that; else npos.
std::size_t find_end_of_module(std::string_view name) {
  const std::size_t word = name.find(module_word);
  if (word == std::string_view::npos || (word > 0 && name[word - 1] != '.')) return std::string_view::npos;
  const std::size_t number = word + module_word.size(), dot = name.find('.', number);
  if (dot == std::string_view::npos || dot == number) return std::string_view::npos;
  if (!std::all_of(name.begin() + static_cast<std::ptrdiff_t>(number), name.begin() + static_cast<std::ptrdiff_t>(dot),
                   is_digit))
    return std::string_view::npos;
  return std::min(name.find('.', dot + 1), name.size());
}

// "step" of "step.cpu_after_optimizations-live-range" and "step-live-range".
std::string_view before_stage(std::string_view rest) {
  constexpr std::string_view stage = "_optimizations";
  const std::size_t at = rest.find(stage);
  if (at != std::string_view::npos) {
    const std::size_t dot = rest.rfind('.', at);
    rest = rest.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  while (rest.ends_with('.') || rest.ends_with('-')) rest.remove_suffix(1);
  return rest;
}

bool has_pass(std::string_view rest) {
  while (!rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    if (is_number_of_pass(rest.substr(0, dot))) return true;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  return false;
}

// `rest` is what follows the module.
DumpContent content_of(std::string_view rest) {
  for (const Ending& ending : endings)
    if (rest.ends_with(ending.text)) return ending.content;
  const bool is_optimized = rest.find("after_optimizations") != std::string_view::npos;
  // "before_optimizations", "after_spmd_partitioner" and "after_codegen" among them; no assignment is in these.
  const bool is_other_stage = !is_optimized && (rest.find("before_") != std::string_view::npos ||
                                                rest.find("after_") != std::string_view::npos || has_pass(rest));
  if (rest.ends_with(".hlo.pb")) return is_other_stage ? DumpContent::nothing : DumpContent::module_with_assignment;
  if (rest.ends_with("_optimizations.txt"))
    return is_optimized ? DumpContent::scheduled_text : DumpContent::unscheduled_text;
  return rest.ends_with(".txt") && has_pass(rest) ? DumpContent::unscheduled_text : DumpContent::nothing;
}

std::string names_of(const std::vector<std::string>& files) {
  constexpr std::size_t named_max = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), named_max); ++i)
    text += (i == 0 ? "" : ", ") + std::filesystem::path(files[i]).filename().string();
  return files.size() > named_max ? text + fmt::format(" and {} more", files.size() - named_max) : text;
}

struct Module {
  std::vector<std::pair<DumpContent, std::string>> files;

  bool has(DumpContent content) const {
    return std::any_of(files.begin(), files.end(), [&](const auto& each) { return each.first == content; });
  }
  // Without the times of its values, the text of the assignment has less than the message.
  int rank_of(DumpContent content) const {
    constexpr int step = 2;
    const bool is_late = content == DumpContent::assignment_text && !has(DumpContent::live_ranges);
    return is_late ? static_cast<int>(DumpContent::assignment) * step + 1 : static_cast<int>(content) * step;
  }
};

}  // namespace

std::optional<DumpName> parse_dump_name(std::string_view name) {
  name = without_compressed_endings(name);
  const std::size_t end = find_end_of_module(name);
  if (end != std::string_view::npos) return DumpName{std::string(name.substr(0, end)), content_of(name.substr(end))};
  const DumpContent content = content_of(name);
  const bool is_stage = name.find("_optimizations") != std::string_view::npos;
  if (content == DumpContent::unscheduled_text && !is_stage) return std::nullopt;  // Digits alone say nothing.
  if (content == DumpContent::nothing && !(is_stage && name.ends_with(".hlo.pb"))) return std::nullopt;
  std::string_view rest = name;
  for (const Ending& ending : endings)
    if (rest.ends_with(ending.text)) {
      rest.remove_suffix(ending.text.size());
      break;
    }
  if (rest.ends_with(".hlo.pb")) rest.remove_suffix(std::string_view(".hlo.pb").size());
  return DumpName{std::string(before_stage(rest)), content};
}

std::string DumpFolder::text() const {
  std::vector<std::string> others;
  for (const DumpedProgram& program : programs)
    others.insert(others.end(), program.others.begin(), program.others.end());
  std::string text;
  if (!others.empty())
    text = others.size() == 1
               ? fmt::format("1 more dump file is of the same program, and was not added up: {}", names_of(others))
               : fmt::format("{} more dump files are of the same programs, and were not added up: {}", others.size(),
                             names_of(others));
  if (!without_memory.empty())
    text += fmt::format(
        "{}{} nothing about memory", text.empty() ? "" : "; ",
        without_memory.size() == 1 ? "1 dump file has" : fmt::format("{} dump files have", without_memory.size()));
  return text;
}

DumpFolder take_dumps(std::vector<std::string>& files) {
  std::map<std::string, Module> modules;
  std::erase_if(files, [&](const std::string& file) {
    auto name = parse_dump_name(std::filesystem::path(file).filename().string());
    if (name) modules[std::move(name->module)].files.emplace_back(name->content, file);
    return name.has_value();
  });
  // "buffer-assignment.txt" is of the only program that has a name.
  const auto nameless = modules.find("");
  if (nameless != modules.end() && modules.size() == 2) {
    Module& named = std::next(nameless)->second;
    named.files.insert(named.files.end(), nameless->second.files.begin(), nameless->second.files.end());
    modules.erase(nameless);
  }
  const bool has_optimized = std::any_of(modules.begin(), modules.end(), [](const auto& each) {
    return std::any_of(each.second.files.begin(), each.second.files.end(),
                       [](const auto& file) { return file.first < DumpContent::unscheduled_text; });
  });
  DumpFolder folder;
  for (auto& [name, module] : modules) {
    std::stable_sort(module.files.begin(), module.files.end(), [&, &of = module](const auto& a, const auto& b) {
      return of.rank_of(a.first) < of.rank_of(b.first);
    });
    DumpedProgram program;
    for (const auto& [content, file] : module.files) {
      if (content == DumpContent::nothing)
        folder.without_memory.push_back(file);
      else if (program.file.empty() && (content < DumpContent::unscheduled_text || !has_optimized))
        program.file = file;
      else
        program.others.push_back(file);
    }
    if (program.file.empty())
      folder.without_memory.insert(folder.without_memory.end(), program.others.begin(), program.others.end());
    else
      folder.programs.push_back(std::move(program));
  }
  return folder;
}

}  // namespace hbmscope
