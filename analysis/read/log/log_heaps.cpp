#include "analysis/read/log/log_heaps.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/read/counter.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/mark_phase.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"

namespace hbmscope::log {
namespace {

using enum StatusFigure;

constexpr std::uint64_t bytes_max = std::uint64_t{1} << 52;

MaybeBytes printed(std::optional<std::uint64_t> bytes) {
  return bytes ? MaybeBytes(PrintedBytes{*bytes, 0}) : std::nullopt;
}

// What is in use; of a line that has only a maximum, that.
std::optional<std::uint64_t> use_of(const StatusSample& sample) {
  for (const StatusFigure figure : {used, most_used, pool, most_pool})
    if (sample[figure]) return sample[figure];
  return std::nullopt;
}

bool has_only_maxima(const Series& series) {
  return !series.last[used] && (series.last[most_used] || series.last[most_pool]) && !series.last[pool];
}

bool can_be_of(std::uint32_t speaker, std::uint32_t other) {
  return speaker == other || speaker == 0 || other == 0;
}

// The size of the KV cache that the server of the same name said at its start.
std::uint64_t cache_bytes(const Findings& findings, const Series& series) {
  for (const Accounting& one : findings.accountings) {
    if (series.wording == nullptr || one.sentence.wording->framework != series.wording->framework) continue;
    std::uint64_t bytes = 0;
    for (const auto& [part, size] : one.sentence.parts)
      if (part == "KV cache" || part == "K cache" || part == "V cache") bytes += size->bytes;
    if (bytes > 0) return bytes;
  }
  return 0;
}

}  // namespace

std::string LogHeaps::owner_of(std::uint32_t speaker) const {
  const LogSpeaker& by = findings_.speakers[speaker];
  return by.rank ? fmt::format("rank {}", *by.rank) : by.name;
}

std::optional<std::uint32_t> LogHeaps::only_rank() const {
  std::optional<std::uint32_t> only;
  for (const LogSpeaker& by : findings_.speakers) {
    if (by.rank && only && by.rank != only) return std::nullopt;
    if (by.rank) only = by.rank;
  }
  return only;
}

std::string LogHeaps::name_of(std::string_view allocator, std::uint32_t speaker,
                              std::optional<std::uint32_t> device) const {
  const std::string owner = owner_of(speaker);
  return std::string(allocator) + (owner.empty() ? "" : ", " + owner) +
         (device ? fmt::format(", GPU {}", *device) : "");
}

std::uint32_t LogHeaps::define(const std::string& name, std::uint32_t device, std::string_view kind,
                               wire::Layer layer) {
  std::uint32_t& heap = heaps_[name];
  if (heap != 0) return heap;
  wire::HeapRecord record;
  record.layer = static_cast<std::uint8_t>(layer);
  record.device = device;
  return heap = writer_.define_heap(record, name, kind);
}

void LogHeaps::set_figure(std::uint32_t heap, std::string_view name, const MaybeBytes& value) {
  const auto key = std::pair(heap, std::string(name));
  if (!value && known_figures_.count(key) == 0) return;
  // A figure that an earlier line had, and this one has not, is unknown.
  add_counter(writer_, name, value ? static_cast<std::int64_t>(std::min(value->bytes, std::uint64_t{1} << 62)) : -1,
              heap, 0);
  known_figures_.insert(key);
}

void LogHeaps::hold(std::uint32_t heap, const MaybeBytes& used) {
  constexpr std::uint64_t address = 0;
  if (held_.count(heap) != 0) writer_.free(heap, address, held_[heap], 0, 0);
  held_.erase(heap);
  if (!used || used->bytes == 0) return;
  wire::AllocRecord block;
  block.address = address;
  block.size = std::min(used->bytes, bytes_max);
  block.requested = wire::unknown_bytes;
  block.heap = heap;
  block.tag = writer_.define_string(bytes_without_a_list);
  writer_.alloc(block, 0);
  held_[heap] = block.size;
}

namespace {

// " (the pool has 12.1 GiB; 4.76 GiB at the peak; the device has 80.0 GiB)" of the last line.
std::string others_text(const Series& series) {
  std::string text;
  const auto add = [&](StatusFigure figure, std::string_view words) {
    const auto& bytes = series.last[figure];
    if (!bytes || !series.last[used] || *bytes == *series.last[used]) return;
    text += fmt::format("{}{}", text.empty() ? " (" : "; ", fmt::format(fmt::runtime(words), text_from_bytes(*bytes)));
  };
  add(most_used, "{} at the peak");
  add(pool, "{} reserved");
  if (!series.last[pool]) add(most_pool, "{} reserved at the peak");
  add(available, "{} free");
  add(total, "of {}");
  return text.empty() ? text : text + ")";
}

}  // namespace

std::optional<std::string> text_from_series(const Series& series) {
  const auto amount = [](const StatusSample& one) {
    const auto use = use_of(one);
    return one.share ? *one.share : use ? static_cast<double>(*use) : -1;
  };
  const auto most =
      std::max_element(series.samples.begin(), series.samples.end(),
                       [&](const StatusSample& a, const StatusSample& b) { return amount(a) < amount(b); });
  if (amount(*most) < 0) return std::nullopt;
  const auto at = [](const StatusSample& one) {
    const std::string size = one.share     ? fmt::format("{:.0f} %", *one.share * 100)
                             : use_of(one) ? text_from_bytes(*use_of(one))
                                           : "(unknown)";
    return fmt::format("{} in line {}", size, text_from_count(one.place.line));
  };
  std::string text = series.is_in_own_words() ? fmt::format("\"{}\"", series.name) : series.name;
  if (series.device) text += fmt::format(", GPU {}", *series.device);
  if (has_only_maxima(series)) text += ", the most so far";
  text += ": " + at(series.samples.front());
  const bool is_first = amount(*most) == amount(series.samples.front()), is_last = amount(*most) == amount(series.last);
  if (!is_first && !is_last) text += ", at most " + at(*most);
  if (series.lines > 1) text += ", and " + at(series.last);
  return text + others_text(series) + ".";
}

SeriesWriter::SeriesWriter(const Findings& findings, wire::StreamWriter& writer, LogHeaps& heaps)
    : findings_(findings), writer_(writer), heaps_(heaps) {
  const auto is_any = [&](const auto& holds) {
    return std::any_of(findings.series.begin(), findings.series.end(), holds);
  };
  const auto is_longer = [](const Series& one, const Series& other) {
    return one.lines > other.lines || (one.lines == other.lines && &one < &other);
  };
  for (const Series& series : findings.series) {
    Open& open = open_.emplace_back();
    open.series = &series;
    // nvidia-smi prints a line for each device.
    open.is_marking = !is_any([&](const Series& other) {
      return other.wording == series.wording && other.is_of_device == series.is_of_device && is_longer(other, series);
    });
    // The same memory may be printed in several ways: a framework's own words are taken, else those of most lines.
    const auto is_better = [&](const Series& other) {
      return other.speaker == series.speaker && !other.is_of_device && !other.last.share &&
             (other.wording != nullptr || is_longer(other, series));
    };
    if (!series.is_in_own_words() || !is_any(is_better)) choose_heap(open);
    for (const StatusSample& sample : series.samples) samples_.emplace_back(&sample, open_.size() - 1);
  }
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const auto& a, const auto& b) { return a.first->place.byte < b.first->place.byte; });
}

// The failure of the same allocator, whose name says the device; of a program's own words, the one that had as much
// in use as these said last. Empty: none.
std::string SeriesWriter::name_of_failure(const Series& series) const {
  std::string name;
  for (const Finding& finding : findings_.failures) {
    if (!finding.sentence || finding.dump || !can_be_of(finding.speaker, series.speaker)) continue;
    const Sentence& said = *finding.sentence;
    if (series.wording != nullptr ? said.allocator != series.name : !said.used || has_only_maxima(series)) continue;
    if (series.device && said.device && *series.device != *said.device) continue;
    if (series.wording == nullptr) {
      const auto in_use = use_of(series.last);
      constexpr double least = 0.5, most = 1.02;
      const double share = in_use ? static_cast<double>(*in_use) / static_cast<double>(said.used->bytes) : 0;
      if (share < least || share > most) continue;
    }
    std::string own = heaps_.name_of(said.allocator, finding.speaker, said.device);
    if (!name.empty() && own != name) return {};
    name = std::move(own);
  }
  return name;
}

void SeriesWriter::choose_heap(Open& open) {
  const Series& series = *open.series;
  if (series.last.share) {
    open.of_share_bytes = cache_bytes(findings_, series);
    if (open.of_share_bytes == 0) return;
  }
  const std::uint32_t device = series.device.value_or(wire::no_device);
  std::string name = has_only_maxima(series) ? std::string() : name_of_failure(series);
  if (name.empty()) {
    name = heaps_.name_of(
        series.is_in_own_words() ? fmt::format("Memory that the log prints as \"{}\"", series.name) : series.name,
        series.speaker, series.device);
    if (has_only_maxima(series)) name += ", the most so far";
  }
  open.heap = heaps_.define(name, device, "device", series.is_of_device ? wire::Layer::physical : wire::Layer::chunk);
}

void SeriesWriter::write(Open& open, const StatusSample& sample) {
  const Series& series = *open.series;
  if (open.heap == 0) {
    if (sample.share)
      add_counter(writer_, series.name + " in use, percent", std::llround(*sample.share * 100), 0, 0);
    else if (const auto bytes = use_of(sample))
      add_counter(writer_, series.name, static_cast<std::int64_t>(std::min(*bytes, bytes_max)), 0, 0);
    return;
  }
  if (sample.share) {
    heaps_.hold(
        open.heap,
        PrintedBytes{static_cast<std::uint64_t>(std::llround(*sample.share * static_cast<double>(open.of_share_bytes))),
                     0});
    heaps_.set_figure(open.heap, reported_figure::limit, PrintedBytes{open.of_share_bytes, 0});
  } else {
    heaps_.hold(open.heap, printed(use_of(sample)));
    heaps_.set_figure(open.heap, reported_figure::pool, printed(sample[pool]));
    heaps_.set_figure(open.heap, reported_figure::limit, printed(sample[limit]));
    heaps_.set_figure(open.heap, reported_figure::device, printed(sample[total]));
    heaps_.set_figure(open.heap, "most_used_bytes", printed(sample[most_used]));
    heaps_.set_figure(open.heap, "most_reserved_bytes", printed(sample[most_pool]));
    heaps_.set_figure(open.heap, "free_on_the_device_bytes", printed(sample[available]));
  }
  if (!sample.step && !open.is_marking) return;
  wire::MarkerRecord mark;
  const std::string phase = sample.phase.empty() ? "" : fmt::format(" ({})", sample.phase);
  mark.name = writer_.define_string(sample.step ? fmt::format("{} {}", series.step_word, *sample.step)
                                                : fmt::format("{}{} {}", step_of_log, phase, sample.number));
  mark.device = series.device.value_or(wire::no_device);
  writer_.add(mark, 0);
}

void SeriesWriter::write_until(std::uint64_t line) {
  for (; next_ < samples_.size() && samples_[next_].first->place.line < line; ++next_)
    write(open_[samples_[next_].second], *samples_[next_].first);
}

}  // namespace hbmscope::log
