#include "analysis/read/log/mentions.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/word_cursor.h"
#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope::log {
namespace {

constexpr std::size_t shown_max = 120;

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != std::string_view::npos; });
}

// A size with its unit, and where it ends.
struct SizeInText {
  std::uint64_t bytes = 0;
  std::size_t begin = 0, end = 0;
};

std::optional<SizeInText> next_size(std::string_view text, std::size_t from) {
  for (std::size_t at = from; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789.", at), text.size());
    WordCursor cursor(text, at);
    const auto size = cursor.take_size();
    const std::string_view unit = size ? text.substr(digits, cursor.offset() - digits) : std::string_view();
    if (unit.find('B') != std::string_view::npos || unit.find_first_of("GM") != std::string_view::npos)
      return SizeInText{size->bytes, at, cursor.offset()};
    at = digits;
  }
  return std::nullopt;
}

// "2702M -- 4188M -- 4204M": at least three.
std::optional<ToldGrowth> growth_of_chain(std::string_view text) {
  constexpr std::string_view marks[] = {"--", "->", "\u2192", "=>"};
  constexpr std::size_t apart_max = 6, sizes_min = 3;
  std::vector<SizeInText> sizes;
  for (auto next = next_size(text, 0); next; next = next_size(text, next->end)) {
    const bool goes_on = !sizes.empty() && next->begin - sizes.back().end <= apart_max &&
                         has_any(text.substr(sizes.back().end, next->begin - sizes.back().end), marks);
    if (!goes_on && sizes.size() >= sizes_min) break;
    if (!goes_on) sizes.clear();
    sizes.push_back(*next);
  }
  if (sizes.size() < sizes_min || sizes.back().bytes <= sizes.front().bytes) return std::nullopt;
  const bool is_flat = sizes[sizes.size() - 2].bytes == sizes.back().bytes;
  return ToldGrowth{0, in_one_line(text, shown_max), sizes.front().bytes, sizes.back().bytes, is_flat};
}

std::optional<ToldGrowth> growth_of(std::string_view text) {
  constexpr std::string_view growing[] = {"grew",  "grow",  "rose", "rises",   "rising", "increas", "climb",
                                          "creep", "crept", "leak", "balloon", "went",   "goes",    "jump"};
  constexpr std::string_view memory[] = {"memory", "vram", " ram", "rss", "hbm", "gpu", "reserved", "allocated"};
  constexpr std::string_view between[] = {" to ", "\u2192", "->", "=>", "\u2013>"};
  constexpr std::size_t line_max = 2000, apart_max = 40;
  if (text.size() > line_max) return std::nullopt;
  const std::string folded = lower(text);
  if (!has_any(folded, memory)) return std::nullopt;
  if (!has_any(folded, growing)) return growth_of_chain(text);
  for (auto first = next_size(text, 0); first;) {
    const auto second = next_size(text, first->end);
    if (!second) return std::nullopt;
    const std::string_view words = text.substr(first->end, second->begin - first->end);
    if (second->bytes > first->bytes && words.size() <= apart_max && has_any(words, between))
      return ToldGrowth{0, in_one_line(text, shown_max), first->bytes, second->bytes};
    first = second;
  }
  return std::nullopt;
}

// A decimal number with commas between thousands; its unit, if it has one; and where that ends.
struct NumberInText {
  double value = 0;
  std::string_view unit;
  std::size_t end = 0;
};

NumberInText number_at(std::string_view text, std::size_t begin) {
  NumberInText found;
  std::string digits;
  std::size_t at = begin;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == '.' || text[at] == ','); ++at)
    if (text[at] != ',') digits += text[at];
  while (digits.ends_with('.')) digits.pop_back();
  std::from_chars(digits.data(), digits.data() + digits.size(), found.value);
  constexpr std::string_view units[] = {"GiB", "MiB", "KiB", "GB", "Gb", "MB", "Mb", "kB", "KB", "bytes", "B", "%"};
  const std::size_t after = std::min(text.find_first_not_of(' ', at), text.size());
  for (const std::string_view unit : units)
    if (text.substr(after).starts_with(unit)) {
      found.unit = text.substr(after, unit.size());
      at = after + unit.size();
      break;
    }
  found.end = at;
  return found;
}

// "15214MiB / 32607MiB": what is used of all.
bool is_use(std::string_view text, const NumberInText& used) {
  constexpr std::string_view between = " / ";
  if (used.unit.size() < 2 || !text.substr(used.end).starts_with(between)) return false;
  const std::size_t at = used.end + between.size();
  return at < text.size() && is_digit(text[at]) && number_at(text, at).unit == used.unit;
}

// Without what stands between them.
std::string name_of(std::string_view before) {
  constexpr std::size_t words_max = 48;
  std::string words;
  constexpr std::string_view marks = " \t:=,;[]|>~", ends = " :=,([-|>~.";
  for (std::size_t at = 0; at < before.size();) {
    const std::size_t end = std::min(before.find_first_not_of(marks, at), before.size());
    const bool is_number = before.substr(at, end - at).find(',') != std::string_view::npos;
    if (end > at && !words.empty()) words += is_number ? ", " : end == at + 1 ? std::string(1, before[at]) : " ";
    if (end < before.size()) words += before[end];
    at = end + 1;
  }
  while (!words.empty() && ends.find(words.back()) != std::string_view::npos) words.pop_back();
  if (words.size() > words_max) words.erase(0, words.find(' ', words.size() - words_max) + 1);
  return words;
}

// The words before a number; empty if they don't name memory. `before`: those of the line without numbers and their
// units, each marked by a comma.
std::string words_of(std::string_view before, std::string_view since_last) {
  constexpr std::string_view memory[] = {"mem", "vram", "rss", "gpu ram", "hbm", "allocated"};
  constexpr std::string_view figures[] = {"mem",  "vram", "rss",   "ram",   "used",     "usage",    "current",
                                          "peak", "free", "avail", "total", "reserved", "allocated"};
  constexpr std::string_view others[] = {"step", "iter", "epoch", "time", "pid", "loss", "batch", "size", "rate"};
  constexpr std::size_t near_max = 24;
  const std::string near = lower(since_last.substr(since_last.size() - std::min(since_last.size(), near_max)));
  if (!has_any(near, figures) || has_any(near, others) || !has_any(lower(before), memory)) return {};
  return name_of(before);
}

// "Used GPU Memory MB", "mem (GiB)"
bool names_unit(std::string_view words) {
  constexpr std::string_view units[] = {"MB", "GB", "MiB", "GiB", "mb", "gb", "Mb", "Gb"};
  return has_any(words, units);
}

// "GPU-0", "alloc.cc:185", an address: it belongs to the words.
bool is_of_a_name(std::string_view text, std::size_t at, const NumberInText& number) {
  const char before = at == 0 ? ' ' : text[at - 1];
  const std::size_t digits = std::min(text.find_first_not_of("0123456789", at), text.size());
  const char after = digits < text.size() ? text[digits] : ' ';
  const bool is_hexadecimal = (is_letter(after) && number.unit.empty()) || (text[at] == '0' && digits - at > 1);
  return is_letter(before) || before == '_' || before == '.' || before == '/' || is_hexadecimal || is_index(text, at);
}

// "Mem:   65   9   12   0   43   55" of the program `free`: total, used, free.
std::optional<double> use_by_free(std::string_view text) {
  constexpr std::string_view head = "Mem:";
  const std::size_t begin = std::min(text.find_first_not_of(" \t>"), text.size());
  if (!text.substr(begin).starts_with(head)) return std::nullopt;
  std::vector<double> numbers;
  constexpr std::size_t numbers_min = 5;
  for (std::size_t at = begin; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
    const NumberInText number = number_at(text, at);
    numbers.push_back(number.value);
    at = number.end;
  }
  return numbers.size() >= numbers_min ? std::optional(numbers[1]) : std::nullopt;
}

void add_reading(Findings& findings, const std::string& words, std::string_view unit, const ReadingsInText::At& at) {
  constexpr std::size_t series_max = 32;
  auto& all = findings.readings;
  auto known = std::find_if(all.begin(), all.end(), [&](const ReadingsInText& each) { return each.words == words; });
  if (known == all.end()) {
    if (all.size() >= series_max) return;
    known = all.insert(known, {words, std::string(unit), {}});
  }
  known->readings.push_back(at);
}

void note_readings_of_line(Findings& findings, std::string_view text, std::uint64_t line) {
  constexpr std::size_t line_max = 400;
  if (text.size() > line_max) return;
  if (const auto used = use_by_free(text)) {
    add_reading(findings, "memory of the host in use, by free", {}, {line, *used});
    return;
  }
  std::size_t since = 0;
  std::string words_before;
  for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
    const NumberInText number = number_at(text, at);
    if (is_of_a_name(text, at, number)) {
      at = std::min(text.find_first_not_of("0123456789", at), text.size());
      continue;
    }
    words_before += text.substr(since, at - since);
    const std::string words = is_use(text, number) ? name_of(words_before)
                              : number.unit == "%" ? std::string()
                                                   : words_of(words_before, text.substr(since, at - since));
    since = at = number.end;
    words_before += ',';
    if (!words.empty()) add_reading(findings, words, number.unit, {line, number.value});
  }
}

}  // namespace

void note_words(Findings& findings, std::string_view lines, std::uint64_t first_line) {
  constexpr std::size_t growths_max = 3;
  for (std::uint64_t line = first_line; !lines.empty(); ++line) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view text = lines.substr(0, end);
    if (findings.growths.size() < growths_max)
      if (auto growth = growth_of(text)) {
        growth->line = line;
        findings.growths.push_back(*std::move(growth));
      }
    note_readings_of_line(findings, text, line);
    if (text.find("MiB") != std::string_view::npos || text.find("GiB") != std::string_view::npos)
      note_mention(findings, text, line);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

bool changes(const ReadingsInText& series) {
  const auto is_other = [&](const ReadingsInText::At& one) { return one.value != series.readings.front().value; };
  return std::any_of(series.readings.begin(), series.readings.end(), is_other);
}

std::string text_from_readings(const ReadingsInText& series) {
  constexpr std::size_t readings_min = 3;
  const auto& all = series.readings;
  if (all.size() < readings_min) return {};
  const auto [least, most] =
      std::minmax_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  constexpr double plain_bytes_min = 1e6;  // A number that can be nothing but bytes.
  const bool is_bytes = series.unit == "bytes" || series.unit == "B" ||
                        (series.unit.empty() &&
                         (lower(series.words).find("bytes") != std::string::npos || least->value >= plain_bytes_min));
  const std::string unit = series.unit.empty() ? std::string() : " " + series.unit;
  const auto amount = [&](double value) {
    return is_bytes ? text_from_value(static_cast<std::int64_t>(value), "bytes") : fmt::format("{}{}", value, unit);
  };
  const auto change_text = [&](double value) {
    return is_bytes ? delta_text_from_value(static_cast<std::int64_t>(value), "bytes")
                    : fmt::format("{:+.5g}{}", value, unit);
  };
  if (!changes(series))
    return fmt::format("\"{}\": {} in all of {} lines.", series.words, amount(most->value), all.size());
  // What the start took and gave back is no part of a trend.
  const auto& last = all.back();
  const bool is_after_start = least != all.begin() && least - all.begin() <= std::ssize(all) / 2;
  const auto& from = is_after_start ? *least : all.front();
  std::string text = fmt::format("\"{}\": {} in line {}", series.words, amount(all.front().value), all.front().line);
  if (is_after_start) text += fmt::format(", {} in line {}", amount(least->value), least->line);
  if (most->value > last.value && most->line != all.front().line)
    text += fmt::format(", at most {} in line {}", amount(most->value), most->line);
  text += fmt::format(", and {} in line {}", amount(last.value), last.line);
  const auto steps = is_after_start ? all.end() - least - 1 : std::ssize(all) - 1;
  const double change = last.value - from.value;
  const bool has_no_unit = !is_bytes && series.unit.empty() && !names_unit(series.words);
  return text + fmt::format(" ({} in {} more lines, {} each{}).", change_text(change), steps,
                            change_text(change / static_cast<double>(steps)),
                            has_no_unit ? "; the text has no unit" : "");
}

bool is_index(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  constexpr std::size_t digits_max = 2;
  if (at < 2 || end - at > digits_max || !is_letter(text[at - 2])) return false;
  const char before = text[at - 1], after = end < text.size() ? text[end] : ' ';
  if (before == '(') return after == ')';
  return (before == '-' || before == ':') && (after == ' ' || after == ':' || after == ',' || after == ']');
}

std::string_view find_recording(std::string_view line) {
  constexpr std::string_view speaker = "hbmscope: ", saved = " saved in ", ending = ".hbm (";
  const std::size_t at = line.find(speaker) == std::string_view::npos ? std::string_view::npos : line.find(saved);
  if (at == std::string_view::npos) return {};
  const std::string_view name = line.substr(at + saved.size());
  const std::size_t end = name.rfind(ending);
  return end == std::string_view::npos ? std::string_view() : name.substr(0, end + ending.find(' '));
}

void note_mention(Findings& findings, std::string_view text, std::uint64_t line) {
  constexpr std::size_t mentions_max = 3;
  constexpr std::string_view units[] = {"GiB", "MiB", "GB", "MB", " bytes"};
  const bool is_known = std::any_of(findings.mentions.begin(), findings.mentions.end(),
                                    [&](const Mention& one) { return one.line == line; });
  if (findings.mentions.size() >= mentions_max || is_known || !find_recording(text).empty()) return;
  const auto has_size = [&](std::string_view unit) {
    const std::size_t at = text.find(unit);
    return at != std::string_view::npos && at > 0 && (is_digit(text[at - 1]) || (at > 1 && is_digit(text[at - 2])));
  };
  if (std::any_of(std::begin(units), std::end(units), has_size))
    findings.mentions.push_back({line, in_one_line(text, shown_max)});
}

void note_mentions(const Findings& findings, ImportStatistics& import) {
  if (findings.mentions.empty() || !findings.say_nothing()) return;
  std::string texts;
  for (const Mention& one : findings.mentions)
    texts += fmt::format("{}line {}: \"{}\"", texts.empty() ? "" : "; ", text_from_count(one.line), one.text);
  import.add("mentions", Severity::notice, static_cast<std::int64_t>(findings.mentions.size()),
             "Lines that speak of memory, with a size, in words that hbmscope doesn't know.", texts);
}

}  // namespace hbmscope::log
