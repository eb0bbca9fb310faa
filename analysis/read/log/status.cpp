#include "analysis/read/log/status.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/read/log/mentions.h"
#include "analysis/read/log/step_number.h"
#include "analysis/read/pattern_index.h"
#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope::log {
namespace {

constexpr std::size_t samples_max = 4096, series_max = 1024, block_bytes_max = 16'384;
constexpr std::uint64_t lines_min = 8;  // Of a program's own words.

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != std::string_view::npos; });
}

// What a size is, by the words before it; the last ones count. Nothing: not memory of a device.
std::optional<StatusFigure> figure_of(std::string_view words) {
  using enum StatusFigure;
  if (has_any(words, {"cpu", "host", " ram", "rss", "swap", "disk", "virtual", "pinned", "download", "sys", "delta",
                      "speed", "bandwidth", "model size", "checkpoint"}) &&
      !has_any(words, {"vram", "hbm"}))
    return std::nullopt;
  const bool is_most = has_any(words, {"max", "peak", "highest"});
  if (has_any(words, {"reserved", "cached"})) return is_most ? most_pool : pool;
  if (has_any(words, {"free", "avail", "left"})) return available;
  if (has_any(words, {"limit"})) return limit;
  if (has_any(words, {"total", "capacity"})) return total;
  if (has_any(words, {"alloc", "used", "usage", "mem", "vram", "in use", "in_use"})) return is_most ? most_used : used;
  return std::nullopt;
}

struct PrintedFigure {
  StatusFigure figure = StatusFigure::used;
  std::uint64_t bytes = 0;
};

// The unit that words before a number say: "(MB)", "_gb", "[MiB]", "in GB".
char unit_of(std::string_view words) {
  for (const auto& [unit, letter] : {std::pair(std::string_view("gib"), 'G'), {"gb", 'G'}, {"mib", 'M'}, {"mb", 'M'}})
    for (std::size_t at = words.find(unit); at != std::string_view::npos; at = words.find(unit, at + 1)) {
      const std::size_t end = at + unit.size();
      if (at > 0 && !is_letter(words[at - 1]) && (end == words.size() || !is_letter(words[end]))) return letter;
    }
  return 0;
}

// The sizes of a line, and the words that name them, by which lines of the same kind are known.
struct Printed {
  std::vector<PrintedFigure> figures;
  std::string words;
};

// `folded`: the text in lower case.
Printed find_printed(std::string_view text, std::string_view folded) {
  constexpr std::size_t words_max = 40;
  Printed found;
  char unit = 0;  // Of the numbers that follow.
  std::size_t since = 0;
  for (std::size_t at = 0; at < folded.size(); ++at) {
    if (!is_digit(folded[at]) || (at > 0 && (is_digit(folded[at - 1]) || folded[at - 1] == '.'))) continue;
    if (is_index(folded, at)) continue;
    const std::size_t begin = std::max(since, at - std::min(at, words_max));
    const std::string_view words = folded.substr(begin, at - begin);
    const bool is_second = since > 0 && words.find_first_not_of(" /|") == std::string_view::npos &&
                           words.find('/') != std::string_view::npos && !found.figures.empty();
    WordCursor cursor(text, at);
    MaybeBytes size = cursor.take_size();
    const std::size_t digits = std::min(folded.find_first_not_of("0123456789.", at), folded.size());
    constexpr std::uint64_t plain_bytes_min = 1'000'000;  // A number that can be nothing but bytes.
    const std::size_t letter = std::min(folded.find_first_not_of(' ', digits), folded.size());
    bool has_unit = size && cursor.offset() > digits && has_any(folded.substr(letter, 1), {"k", "m", "g", "t"});
    if (!has_unit && size && size->error == 0 && size->bytes >= plain_bytes_min) has_unit = true;
    if (!has_unit) {
      if (const char said = unit_of(words)) unit = said;
      if (unit != 0) {
        const std::string with_unit = std::string(text.substr(at, digits - at)) + unit;
        size = WordCursor(with_unit, 0).take_size();
        cursor.move_to(digits);
        has_unit = true;
      }
    }
    const std::size_t end = std::max(cursor.offset(), digits);
    const auto figure = is_second ? std::optional(StatusFigure::total) : figure_of(words);
    if (size && has_unit && figure) {
      const auto is_known = [&](const PrintedFigure& one) { return one.figure == *figure; };
      if (std::none_of(found.figures.begin(), found.figures.end(), is_known)) {
        found.figures.push_back({*figure, size->bytes});
        for (const char c : words)
          if (is_letter(c) || is_digit(c) || c == '_' ||
              (c == ' ' && !found.words.empty() && found.words.back() != ' '))
            found.words += c;
      }
    }
    at = std::max(at, end - 1);
    since = end;
  }
  while (found.words.ends_with(' ')) found.words.pop_back();
  return found;
}

// Whether the line is about a device, or about the steps of a program.
bool is_of_device(std::string_view folded) {
  static constexpr std::array<std::string_view, 18> words = {
      "gpu", "cuda", "vram", "hbm",          "tpu",       "torch",     "reserved", "device", "npu",
      "xpu", "mps",  "step", "memory_alloc", "mem_alloc", "allocated", "iter",     "epoch",  "loss"};
  static const PatternIndex index(words);
  return index.for_each_candidate(folded,
                                  [&](std::size_t word) { return folded.find(words[word]) != std::string_view::npos; });
}

std::optional<std::uint64_t> bytes_of(const MaybeBytes& size) {
  return size ? std::optional(size->bytes) : std::nullopt;
}

// "12345MiB / 81559MiB" of a row of nvidia-smi's table.
std::optional<std::pair<std::uint64_t, std::uint64_t>> use_of_row(std::string_view text) {
  constexpr std::string_view between = "MiB / ";
  const std::size_t at = text.find(between);
  if (!text.starts_with('|') || at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  const auto used = WordCursor(text, begin).take_size(), all = WordCursor(text, at + between.size()).take_size();
  if (!used || !all) return std::nullopt;
  return std::pair(used->bytes, all->bytes);
}

// The end of a dictionary, or of PyTorch's ordered one.
bool is_closed(std::string_view text) {
  return text.find('}') != std::string_view::npos || text.find(")])") != std::string_view::npos;
}

// By commas, or by blanks where there are none.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  if (line.find(',') == std::string_view::npos) {
    while ((line = line.substr(std::min(line.find_first_not_of(" \r"), line.size()))) != "") {
      cells.emplace_back(line.substr(0, line.find(' ')));
      line.remove_prefix(cells.back().size());
    }
    return cells;
  }
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    std::string_view cell = line.substr(begin, end - begin);
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ') || cell.ends_with('\r')) cell.remove_suffix(1);
    cells.emplace_back(cell);
    begin = end + 1;
  }
  return cells;
}

// What DeepSpeed's lines before it say: "[utils.py:785:see_memory_usage] After forward".
std::string phase_of(std::string_view before) {
  constexpr std::string_view function = "see_memory_usage]";
  const std::size_t at = before.find(function);
  if (at == std::string_view::npos) return {};
  constexpr std::size_t text_max = 60;
  std::string phase = in_one_line(before.substr(at + function.size()), text_max);
  phase.erase(0, std::min(phase.find_first_not_of(' '), phase.size()));
  return phase;
}

}  // namespace

Series* StatusReader::series_of(std::string name, std::uint32_t speaker, std::optional<std::uint32_t> device) {
  std::string key = device ? fmt::format("{} {}", name, *device) : name;
  const auto [known, is_new] = numbers_.try_emplace({std::move(key), speaker}, all_.size());
  if (is_new && all_.size() >= series_max) {
    numbers_.erase(known);
    return nullptr;
  }
  if (is_new) {
    all_.emplace_back();
    all_.back().name = std::move(name);
    all_.back().speaker = speaker;
    all_.back().device = device;
  }
  return &all_[known->second];
}

void StatusReader::add_sample(Series& series, StatusSample sample, std::string_view folded) {
  if (const auto step = find_step(folded)) {
    series.step_word = step->word;
    sample.step = step->number;
    // An epoch begins again.
    if (series.lines > 0 && series.last.step && *sample.step < *series.last.step) *sample.step += *series.last.step;
  }
  sample.number = ++series.lines_of_phases[sample.phase];
  if (series.lines++ % series.stride == 0) series.samples.push_back(sample);
  series.last = std::move(sample);
  if (series.samples.size() < samples_max) return;
  for (std::size_t i = 0; 2 * i < series.samples.size(); ++i) series.samples[i] = std::move(series.samples[2 * i]);
  series.samples.resize((series.samples.size() + 1) / 2);
  series.stride *= 2;
}

void StatusReader::add(const Sentence& said, std::string_view text, std::string_view before, std::uint32_t speaker,
                       const Place& place) {
  if (said.wording->lines > 1 && !is_closed(text.substr(said.begin))) {
    blocks_[speaker] = {std::string(text), std::string(before), place, 1, said.wording->lines};
    lines_wanted_ = 1;
    return;
  }
  add_whole(said, text, before, speaker, place);
}

void StatusReader::add_whole(const Sentence& said, std::string_view text, std::string_view before,
                             std::uint32_t speaker, const Place& place) {
  Series* series = series_of(said.allocator, speaker, said.device);
  if (series == nullptr) return;
  series->wording = said.wording;
  series->is_of_device = said.wording->framework == "rocm-smi";
  StatusSample sample;
  sample.place = place;
  sample.phase = phase_of(before);
  sample.share = said.share;
  const auto set = [&](StatusFigure figure, const MaybeBytes& size) {
    sample.figures[static_cast<std::size_t>(figure)] = bytes_of(size);
  };
  set(StatusFigure::used, said.used);
  set(StatusFigure::pool, said.pool);
  set(StatusFigure::available, said.available);
  set(StatusFigure::limit, said.limit);
  set(StatusFigure::total, said.total);
  for (const auto& [name, size] : said.others) {
    if (name == "most used") set(StatusFigure::most_used, size);
    if (name == "most of the pool") set(StatusFigure::most_pool, size);
  }
  add_sample(*series, std::move(sample), lower(text));
}

void StatusReader::close(std::uint32_t speaker) {
  const Block block = std::move(blocks_.extract(speaker).mapped());
  const auto said = find_sentence(block.text);
  if (said && said->wording->kind == SentenceKind::status)
    add_whole(*said, block.text, block.before, speaker, block.place);
}

bool StatusReader::take(std::string_view text, std::uint32_t speaker, const Place& place) {
  lines_wanted_ = 0;
  const auto open = blocks_.find(speaker);
  if (open == blocks_.end()) return take_row(text, speaker, place) || take_printed(text, speaker, place);
  Block& block = open->second;
  block.text += '\n';
  block.text += text;
  if (++block.lines >= block.lines_max || is_closed(text) || block.text.size() > block_bytes_max)
    close(speaker);
  else
    lines_wanted_ = 1;
  return true;
}

// "|    0   N/A  N/A     22914      C   python      7982MiB |"
bool StatusReader::take_process(std::string_view text) {
  const std::vector<std::string> cells = cells_of(text);
  constexpr std::size_t cells_min = 7;
  if (cells.size() < cells_min || cells.front() != "|" || cells.back() != "|") return false;
  const auto type = std::find_if(cells.begin(), cells.end(),
                                 [](const std::string& one) { return one == "C" || one == "G" || one == "C+G"; });
  if (type == cells.end() || std::next(type) == cells.end()) return false;
  const std::string& size = cells[cells.size() - 2];
  const auto bytes = bytes_of(WordCursor(size, 0).take_size());
  if (!bytes || !size.ends_with("MiB") || *bytes <= process_bytes_) return false;
  process_bytes_ = *bytes;
  process_ = fmt::format("{} ({})", *std::prev(type), *std::next(type));
  return true;
}

std::string StatusReader::largest_process() const {
  return process_.empty() ? std::string()
                          : fmt::format("{}, {}", process_, text_from_bytes(static_cast<std::int64_t>(process_bytes_)));
}

// nvidia-smi's table, of which a row names the device and the next one what is in use, and its lists
// (--query-gpu=memory.used --format=csv).
bool StatusReader::take_row(std::string_view text, std::uint32_t speaker, const Place& place) {
  constexpr std::uint64_t table_lines = 80, list_lines = 64;
  constexpr std::string_view name = "all processes, by nvidia-smi";
  const auto add_use = [&](std::optional<std::uint32_t> device, std::optional<std::uint64_t> used,
                           std::optional<std::uint64_t> total) {
    Series* series = series_of(std::string(name), speaker, device);
    if (series == nullptr) return;
    series->is_of_device = true;
    StatusSample sample;
    sample.place = place;
    sample.figures[static_cast<std::size_t>(StatusFigure::used)] = used;
    sample.figures[static_cast<std::size_t>(StatusFigure::total)] = total;
    add_sample(*series, std::move(sample), {});
  };
  if (text.find("Memory-Usage") != std::string_view::npos) {
    lines_wanted_ = table_lines;
    rows_until_ = place.line + table_lines;
    columns_.clear();
    return true;
  }
  if (text.find("memory.used") != std::string_view::npos && text.find(',') != std::string_view::npos) {
    columns_ = cells_of(text);
    lines_wanted_ = list_lines;
    rows_until_ = place.line + list_lines;
    return true;
  }
  // nvidia-smi dmon: "# gpu   pwr gtemp    sm   mem    fb  bar1".
  constexpr std::string_view first_of_dmon = "# gpu ";
  if (const std::size_t at = text.find(first_of_dmon);
      at != std::string_view::npos && at < first_of_dmon.size() && text.find(" fb ") != std::string_view::npos) {
    columns_ = cells_of(text.substr(at + 2));
    lines_wanted_ = list_lines;
    rows_until_ = place.line + list_lines;
    return true;
  }
  if (place.line > rows_until_) return false;
  if (columns_.empty()) {
    if (take_process(text)) return true;
    if (const auto use = use_of_row(text)) {
      add_use(row_device_, use->first, use->second);
      return true;
    }
    WordCursor cursor(text, text.starts_with('|') ? 1 : 0);
    if (const auto number = text.starts_with('|') ? cursor.take_number() : std::nullopt; number && *number < 4096)
      row_device_ = static_cast<std::uint32_t>(*number);
    return false;
  }
  const std::vector<std::string> cells = cells_of(text);
  if (cells.size() != columns_.size()) return false;
  std::optional<std::uint32_t> device;
  std::optional<std::uint64_t> used, total;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string with_unit = cells[i].find("iB") == std::string::npos ? cells[i] + "M" : cells[i];
    if (columns_[i].starts_with("memory.used") || columns_[i] == "fb")
      used = bytes_of(WordCursor(with_unit, 0).take_size());
    if (columns_[i].starts_with("memory.total")) total = bytes_of(WordCursor(with_unit, 0).take_size());
    if (columns_[i] == "index" || columns_[i] == "gpu")
      if (const auto number = number_at(cells[i]))
        device = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, 4095));
  }
  if (!used) return false;
  rows_until_ = place.line + list_lines;
  lines_wanted_ = list_lines;
  add_use(device, used, total);
  return true;
}

bool StatusReader::take_printed(std::string_view text, std::uint32_t speaker, const Place& place) {
  constexpr std::size_t text_max = 2000;
  if (text.size() > text_max || text.find_first_of("0123456789") == std::string_view::npos) return false;
  const std::string folded = lower(text);
  if (!is_of_device(folded)) return false;
  const Printed printed = find_printed(text, folded);
  if (printed.figures.empty()) return false;
  Series* series = series_of(printed.words, speaker, std::nullopt);
  if (series == nullptr) return false;
  StatusSample sample;
  sample.place = place;
  for (const PrintedFigure& one : printed.figures) sample.figures[static_cast<std::size_t>(one.figure)] = one.bytes;
  add_sample(*series, std::move(sample), folded);
  return true;
}

std::vector<Series> StatusReader::finish() {
  while (!blocks_.empty()) close(blocks_.begin()->first);
  const auto has_use = [](const Series& one) {
    return one.last[StatusFigure::used] || one.last[StatusFigure::most_used] || one.last[StatusFigure::pool] ||
           one.last[StatusFigure::most_pool] || one.last.share;
  };
  std::erase_if(all_,
                [&](const Series& one) { return !has_use(one) || (one.is_in_own_words() && one.lines < lines_min); });
  for (Series& one : all_)
    if (one.samples.back().place.byte != one.last.place.byte) one.samples.push_back(one.last);
  return std::move(all_);
}

}  // namespace hbmscope::log
