#include "analysis/answers/fit.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

#include "analysis/answers/workload.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

using Cells = std::vector<std::vector<Value>>;

Tone tone_of(std::optional<bool> fits) {
  return !fits ? Tone::dim : *fits ? Tone::good : Tone::bad;
}

std::string file_name_of(const JudgedFile& one) {
  return printable(one.file.substr(one.file.rfind('/') + 1));
}

Table describe_rows(const std::vector<FitRow>& rows, const std::vector<FitTarget>& targets) {
  Table table{.columns = {{.title = "Device"},
                          {.key = "generation"},
                          {.key = "topology"},
                          {.key = "devices", .unit = Unit::count},
                          {.key = "usable_bytes", .title = "Usable", .unit = Unit::bytes},
                          {.key = "needed_bytes", .title = "Needed", .unit = Unit::bytes},
                          {.key = "fits", .unit = Unit::flag},
                          {.key = "verdict"},
                          {.key = "spare_bytes", .unit = Unit::bytes},
                          {.key = "text"},
                          {.title = "Verdict"}},
              .shown = rows.size()};
  Cells cells;
  std::vector<Tone> tones;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FitRow& row = rows[i];
    cells.push_back({row.target, std::string(targets[i].generation->name),
                     targets[i].devices ? Value(valid_utf8(row.target)) : Value(), value_of(targets[i].devices),
                     value_of(row.usable_bytes), value_of(row.needed_bytes), value_of(row.fits), row.headline,
                     value_of(row.spare_bytes), valid_utf8(row.room), row.headline + ": " + row.room});
    tones.push_back(tone_of(row.fits));
  }
  table.rows = std::move(cells);
  table.cell_tone = [tones](std::size_t row, std::size_t column) { return column == 10 ? tones[row] : Tone::plain; };
  return table;
}

Document describe_file(const JudgedFile& one, const std::vector<FitTarget>& targets) {
  Document document{.title = one.file + ": " + one.head};
  document.add(Figures{{{"file", valid_utf8(one.file)},
                        {"name", value_of(valid_utf8(one.name))},
                        {"figures", value_of(one.figures)},
                        {"needed_without_code_bytes", value_of(one.needed_without_code_bytes), Unit::bytes},
                        {"donatable_bytes", value_of(one.donatable_bytes), Unit::bytes},
                        {"folder", value_of(valid_utf8(one.folder))}}});
  const Table rows = describe_rows(one.rows, targets);
  document.add(for_readers(rows));
  Documents generations{.key = "generations"};
  for (std::size_t i = 0; i < one.rows.size(); ++i)
    generations.list.push_back(object_from_row(rows, i, {})
                                   .add(describe_reasons(one.rows[i].reasons))
                                   .add(describe_advice(one.rows[i].advice)));
  document.add(std::move(generations));
  add_advice(one.rows, document);
  return document;
}

// " All fit on v4 and v5p." for each of the three, the bad one first.
Sentence describe_verdict(std::span<const JudgedFile> files) {
  std::string all, some, unknown;
  for (std::size_t i = 0; i < files.front().rows.size(); ++i) {
    const auto is_any = [&](std::optional<bool> fits) {
      return std::any_of(files.begin(), files.end(), [&](const JudgedFile& one) { return one.rows[i].fits == fits; });
    };
    std::string& names = is_any(false) ? some : is_any(std::nullopt) ? unknown : all;
    names += (names.empty() ? "" : ", ") + printable(files.front().rows[i].target);
  }
  const bool is_one = files.size() == 1;
  std::string text;
  const auto add = [&text](std::string_view words, const std::string& names) {
    if (!names.empty()) text += fmt::format("{}{} on {}.", text.empty() ? "" : " ", words, names);
  };
  add(is_one ? "Does not fit" : "Not all fit", some);
  add("Unknown for some", unknown);
  add(is_one ? "Fits" : "All fit", all);
  return {.text = std::move(text),
          .tone = !some.empty()     ? Tone::bad
                  : unknown.empty() ? Tone::good
                                    : Tone::plain,
          .audience = Audience::readers};
}

// Which of them fit where. Those whose modules have the same name are named after their files.
Document describe_folder(std::span<const JudgedFile> files, const std::vector<FitTarget>& targets) {
  Document document{.title = fmt::format("{}: {}, the largest first", files.front().folder,
                                         text_from_count_of(files.size(), "program")),
                    .audience = Audience::readers};
  document.add(describe_verdict(files));
  Table table{.columns = {{.title = "Program"}, {.title = "Needed", .unit = Unit::bytes}},
              .shown = 20,
              .how_to_show_more = "--json has all"};
  for (const FitTarget& target : targets) table.columns.push_back({.title = target.name, .unit = Unit::flag});
  std::map<std::string, int> times;
  for (const JudgedFile& one : files) ++times[one.name];
  Cells cells;
  std::vector<std::vector<Tone>> tones;
  for (const JudgedFile& one : files) {
    auto& row = cells.emplace_back();
    row = {one.name.empty() || times[one.name] > 1 ? file_name_of(one) : one.name, value_of(one.needed_bytes())};
    tones.emplace_back(2, Tone::plain);
    for (const FitRow& each : one.rows) {
      row.push_back(each.fits ? Value(*each.fits) : Value("unknown"));
      tones.back().push_back(tone_of(each.fits));
    }
  }
  table.rows = std::move(cells);
  table.cell_tone = [tones](std::size_t row, std::size_t column) { return tones[row][column]; };
  document.add(std::move(table));
  for (const JudgedFile& one : files)
    if (!one.needed_bytes()) document.add(Sentence{.text = file_name_of(one) + ": " + one.rows.front().room});
  return document;
}

}  // namespace

std::optional<std::uint64_t> JudgedFile::needed_bytes() const {
  std::optional<std::uint64_t> most;
  for (const FitRow& row : rows) most = std::max(most, row.needed_bytes);
  return most;
}

JudgedFile judged_from(const Fit& fit, const std::vector<FitTarget>& targets) {
  return {.file = fit.file,
          .name = fit.program.name,
          .head = text_from_bytes(fit.needed) + " of HBM" + (fit.code_bytes ? "" : ", and its code"),
          .figures = fit.is_emulated ? "emulated" : "compiler",
          .needed_without_code_bytes = fit.program.needed_without_code_bytes(),
          .donatable_bytes = fit.program.donatable_bytes,
          .rows = fit_rows_of(fit, targets),
          .caveat = fit.is_emulated
                        ? "As emulated for its own generation; tpu fit of the workload file emulates each."
                        : "As compiled for its own target: the compiler of another generation may choose other layouts "
                          "and temporaries."};
}

JudgedFile judged_from(const WorkloadFit& fit, const OpenedWorkload& opened, const std::string& file) {
  std::optional<std::uint64_t> needed;
  for (const auto& program : opened.now->emulation.programs)
    needed = std::max(needed.value_or(0), program.needed_without_code_bytes());
  return {
      .file = file,
      .name = fit.name,
      .head = (fit.name.empty() ? "workload" : fit.name) + ", emulated on each generation",
      .figures = "emulated",
      .needed_without_code_bytes = needed,
      .rows = fit.rows,
      .caveat = fit.is_cut_short ? "The search for what would make it fit was cut short: the workload is large." : ""};
}

JudgedFile judged_from(const Error& why, const std::string& file, const std::vector<FitTarget>& targets) {
  JudgedFile one{.file = file};
  for (const FitTarget& target : targets)
    one.rows.push_back({target.name, target.generation->hbm_usable.value, {}, {}, "unknown", {}, why.what, {}, {}});
  return one;
}

void sort_by_need(std::vector<JudgedFile>& files) {
  std::stable_sort(files.begin(), files.end(), [](const JudgedFile& a, const JudgedFile& b) {
    const auto first = a.needed_bytes(), second = b.needed_bytes();
    return first.has_value() != second.has_value() ? !first : first > second;
  });
}

Document describe_fits(const std::vector<JudgedFile>& files, const std::vector<FitTarget>& targets) {
  Document document;
  Documents programs{.key = "programs"};
  std::vector<std::string> caveats;
  for (std::size_t begin = 0, end = 0; begin < files.size(); begin = end) {
    const std::string& folder = files[begin].folder;
    for (end = begin + 1; !folder.empty() && end < files.size() && files[end].folder == folder;) ++end;
    const std::span<const JudgedFile> group(&files[begin], end - begin);
    if (!folder.empty()) document.add(describe_folder(group, targets));
    bool is_described = false;
    for (const JudgedFile& one : group) {
      Document described = describe_file(one, targets);
      programs.list.push_back(described);
      if (!one.caveat.empty() && std::find(caveats.begin(), caveats.end(), one.caveat) == caveats.end())
        caveats.push_back(one.caveat);
      if (is_described || !one.needed_bytes()) continue;
      described.audience = Audience::readers;
      document.add(std::move(described));
      is_described = true;
    }
  }
  document.add(std::move(programs));
  for (std::string& one : caveats)
    document.add(Sentence{.text = std::move(one), .tone = Tone::dim, .audience = Audience::readers});
  return document;
}

void add_advice(const std::vector<FitRow>& rows, Document& document) {
  for (const FitRow& row : rows) {
    const auto first_small =
        std::find_if(row.advice.begin(), row.advice.end(), [](const Advice& one) { return !one.suffices; });
    const auto add = [&](auto begin, auto end, std::string title) {
      Cells cells;
      for (auto one = begin; one != end; ++one) cells.push_back({one->change});
      document.add(Table{.title = std::move(title),
                         .columns = {{.title = "Change"}},
                         .rows = std::move(cells),
                         .layout = Layout::lines,
                         .shown = row.advice.size(),
                         .audience = Audience::readers});
    };
    add(row.advice.begin(), first_small, row.target + " would fit with any one of these, the smallest change first:");
    add(first_small, row.advice.end(), row.target + " would not fit with any of these alone:");
  }
}

Table describe_advice(const std::vector<Advice>& advice) {
  Cells cells;
  for (const Advice& one : advice)
    cells.push_back({valid_utf8(one.key), valid_utf8(one.change), one.suffices, value_of(one.spare_bytes),
                     std::string(text_from_proof(one.proof))});
  return {.key = "advice",
          .columns = {{.key = "change"},
                      {.key = "text"},
                      {.key = "suffices", .unit = Unit::flag},
                      {.key = "spare_bytes", .unit = Unit::bytes},
                      {.key = "figures"}},
          .rows = std::move(cells),
          .audience = Audience::programs};
}

}  // namespace hbmscope
