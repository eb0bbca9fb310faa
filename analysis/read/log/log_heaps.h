// The heaps of a trace that is made of a log: by name, with the figures that lines say of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/read/log/findings.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::log {

class LogHeaps {
 public:
  LogHeaps(const Findings& findings, wire::StreamWriter& writer) : findings_(findings), writer_(writer) {}

  // "rank 3", "(EngineCore pid=7)". Empty if nobody is named, or there is only one.
  std::string owner_of(std::uint32_t speaker) const;
  // Of a log of one rank: no other one speaks in it.
  std::optional<std::uint32_t> only_rank() const;
  std::string name_of(std::string_view allocator, std::uint32_t speaker,
                      std::optional<std::uint32_t> device = std::nullopt) const;
  // The heap of that name; 0: none is defined yet, and the caller does it.
  std::uint32_t& operator[](const std::string& name) { return heaps_[name]; }
  // A heap of one allocator's chunks, defined once.
  std::uint32_t define(const std::string& name, std::uint32_t device, std::string_view kind, wire::Layer layer);

  void set_figure(std::uint32_t heap, std::string_view name, const MaybeBytes& value);
  void set_figures(std::uint32_t heap, const std::vector<std::pair<std::string, MaybeBytes>>& figures) {
    for (const auto& [name, value] : figures) set_figure(heap, name, value);
  }
  // What a heap holds in all, where the log has no list of it: one block without a place.
  void hold(std::uint32_t heap, const MaybeBytes& used);

 private:
  const Findings& findings_;
  wire::StreamWriter& writer_;
  std::map<std::string, std::uint32_t> heaps_;   // By name.
  std::map<std::uint32_t, std::uint64_t> held_;  // Bytes of the block of hold(), by heap.
  std::set<std::pair<std::uint32_t, std::string>> known_figures_;
};

// "PyTorch's CUDA allocator: 12.1 GiB in line 40, at most 14.9 GiB in line 900, and 14.8 GiB in line 1,000."
// Nothing: no line says what is in use.
std::optional<std::string> text_from_series(const Series& series);

// Writes what the log prints again and again, as events in the order of its lines: what is in use, and a mark of a
// step.
class SeriesWriter {
 public:
  SeriesWriter(const Findings& findings, wire::StreamWriter& writer, LogHeaps& heaps);
  // All that comes before that line.
  void write_until(std::uint64_t line);

 private:
  struct Open {
    const Series* series = nullptr;
    std::uint32_t heap = 0;            // 0: its figures are counters of no heap.
    std::uint64_t of_share_bytes = 0;  // What a share is of.
    bool is_marking = false;           // Its lines are steps, also without a number.
  };
  void choose_heap(Open& open);
  std::string name_of_failure(const Series& series) const;
  void write(Open& open, const StatusSample& sample);

  const Findings& findings_;
  wire::StreamWriter& writer_;
  LogHeaps& heaps_;
  std::vector<Open> open_;
  std::vector<std::pair<const StatusSample*, std::size_t>> samples_;  // By place, each with its number in `open_`.
  std::size_t next_ = 0;
};

}  // namespace hbmscope::log
