// Writes TPU reports into a stream: one heap per report, with the buffers that it lists, its figures as counters, and
// the failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/import_statistics.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::tpu_oom {

class ReportWriter {
 public:
  // Both must outlive the writer.
  ReportWriter(wire::StreamWriter& writer, ImportStatistics& import) : writer_(writer), import_(import) {}

  // Returns the event number of the failure, unless the report is none, or its sizes are cut off. `owner` completes
  // the name of the heap: "rank 3", if it is known.
  std::optional<std::uint64_t> add(const Report& report, std::string_view owner = {}, std::uint32_t stack = 0);
  // A heap of a program's buffers alone, for sources that are not TPUs.
  void add_program(const std::string& name, std::string_view memory_kind, const std::vector<Allocation>& buffers);
  std::size_t heaps() const { return heaps_; }

 private:
  void note(const Report& report);
  void make_heap(const Report& report, std::string_view owner);
  void begin_heap(wire::HeapRecord heap, std::string name, std::string_view memory_kind);
  std::uint64_t add_block(std::uint64_t bytes, const MaybeBytes& unpadded, std::uint32_t stack, std::string_view tag);
  std::uint32_t stack_of(const Allocation& allocation);
  // Returns their total size.
  std::uint64_t add_allocations(const std::vector<Allocation>& list);
  void add_rest(std::uint64_t whole, std::uint64_t listed, std::string_view tag);
  void add_listed(const Report& report);
  void add_statistics(const Report& report);
  void add_figure(std::string_view name, const MaybeBytes& value);
  std::uint64_t add_failure(const Report& report, std::uint32_t stack);

  wire::StreamWriter& writer_;
  ImportStatistics& import_;
  std::map<std::string, std::uint32_t> last_heap_;  // By memory space and owner.
  std::map<std::string, std::size_t> names_;
  std::uint32_t heap_ = 0;
  std::size_t heaps_ = 0;
  std::uint64_t address_ = 0;
};

// The same figures of the same memory: one of them repeats the other, perhaps without the tables.
bool has_same_figures(const Report& a, const Report& b);

}  // namespace hbmscope::tpu_oom
