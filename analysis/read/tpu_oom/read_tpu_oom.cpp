#include "analysis/read/tpu_oom/read_tpu_oom.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "analysis/read/op_name_stack.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/read/trace_content.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {
namespace {

using namespace tpu_oom;

constexpr std::size_t reports_max = 1024;
constexpr std::uint64_t block_bytes_max = std::uint64_t{1} << 52;  // Keeps invented addresses from overflowing.

std::string_view text_from_bytes(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_same(const MaybeBytes& a, const MaybeBytes& b) {
  return a.has_value() == b.has_value() && (!a || a->bytes == b->bytes);
}

// A repeated report: the same figures of the same memory.
bool is_repeat(const Report& now, const Report& before) {
  return now.form == before.form && now.memory_space == before.memory_space &&
         is_same(now.requested, before.requested) && is_same(now.limit, before.limit) &&
         is_same(now.free, before.free) && now.program_allocations.empty();
}

std::uint64_t bytes_of(const MaybeBytes& size) {
  return size ? size->bytes : 0;
}

class TraceMaker {
 public:
  TraceMaker(const std::string& name, std::uint64_t bytes)
      : out_({name, "tpu_oom", "TPU out-of-memory text", "xla:tpu", bytes}) {}

  void add(const Report& report) {
    note(report);
    if (report.form != Form::statistics && !report.requested) return;  // check_report names it.
    make_heap(report);
    if (report.form == Form::statistics)
      add_statistics(report);
    else
      add_listed(report);
    add_figure(reported_figure::used, report.used);
    add_figure(reported_figure::limit, report.limit);
    add_figure(reported_figure::free, report.free);
    add_figure(reported_figure::largest_free, report.largest_free);
    if (report.form != Form::statistics) add_figure(reported_figure::reserved, report.reserved);
    if (report.form != Form::statistics) add_failure(report);
  }

  Trace finish(std::size_t repeats, std::size_t left_out) {
    ImportStatistics& import = out_.trace().import;
    import.add("reports", Severity::info, static_cast<std::int64_t>(heaps_));
    if (repeats > 0)
      import.add("repeated_reports", Severity::notice, static_cast<std::int64_t>(repeats),
                 "Printed more than once with the same figures; counted once.");
    if (left_out > 0)
      import.add("reports_left_out", Severity::loss, static_cast<std::int64_t>(left_out),
                 "There are too many reports; the first ones are read.");
    out_.close();
    return std::move(out_.trace());
  }

 private:
  void note(const Report& report) {
    ImportStatistics& import = out_.trace().import;
    const Check check = check_report(report);
    if (check.identities > 0) import.add("sums_checked", Severity::info, static_cast<std::int64_t>(check.identities));
    for (const std::string& difference : check.differences)
      import.add("sums_differ", Severity::warning, 1,
                 "Figures of a report do not add up, beyond rounding; they are shown as printed.", difference);
    for (const std::string& cut : check.cuts)
      import.add("text_cut", Severity::notice, 1,
                 "The report is incomplete, and the rest is unknown. The log of the job may have all of it.",
                 fmt::format("byte {}: {}", report.begin, cut));
  }

  void make_heap(const Report& report) {
    const std::string space = report.memory_space.empty() ? "unknown memory" : report.memory_space;
    std::uint32_t& last = last_heap_[space];
    if (last != 0) {
      wire::HeapGoneRecord gone;
      gone.heap = last;
      writer_.drop_heap(gone, 0);
    }
    wire::HeapRecord heap;
    heap.device = wire::no_device;
    heap.layer = static_cast<std::uint8_t>(wire::Layer::program);
    const bool knows_padding = std::any_of(report.program_allocations.begin(), report.program_allocations.end(),
                                           [](const Allocation& each) { return each.unpadded.has_value(); });
    heap.flags = knows_padding ? wire::heap_flag::has_requested : 0;
    std::string name = space;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!report.program.empty()) name += fmt::format(" of {}", report.program);
    const std::size_t same = ++names_[name];
    if (same > 1) name += fmt::format(" ({})", same);
    heap_ = last = writer_.define_heap(heap, name, report.memory_space);
    ++heaps_;
    address_ = 0;
  }

  void attribute(std::uint64_t block, std::string_view key, std::string_view value) {
    if (value.empty()) return;
    wire::AttributeRecord record;
    record.allocation = block;
    record.key = writer_.define_string(key);
    record.value = writer_.define_string(value);
    writer_.add(record, 0);
  }

  std::uint64_t add_block(std::uint64_t bytes, const MaybeBytes& unpadded, std::uint32_t stack, std::string_view tag) {
    wire::AllocRecord block;
    block.address = address_;
    block.size = std::min(bytes, block_bytes_max);
    block.requested = unpadded ? unpadded->bytes : wire::unknown_bytes;
    block.heap = heap_;
    block.stack = stack;
    block.tag = tag.empty() ? 0 : writer_.define_string(tag);
    address_ += block.size;
    return writer_.alloc(block, 0);
  }

  std::uint32_t stack_of(const Allocation& allocation) {
    return define_op_name_stack(writer_, allocation.op_name, allocation.source_file, allocation.source_line);
  }

  // Returns their total size.
  std::uint64_t add_allocations(const std::vector<Allocation>& list) {
    std::uint64_t sum = 0;
    for (const Allocation& allocation : list) {
      const std::uint64_t bytes = bytes_of(allocation.size);
      if (bytes == 0) continue;
      const std::string& label = allocation.label;
      const std::string tag = label.substr(0, label.find(" = "));
      const std::uint64_t block = add_block(bytes, allocation.unpadded, stack_of(allocation), tag);
      attribute(block, "shape", allocation.shape);
      attribute(block, "allocation_type", allocation.type);
      attribute(block, "xla_label", label);
      attribute(block, "buffer", allocation.tag);
      sum += bytes;
    }
    return sum;
  }

  void add_rest(std::uint64_t whole, std::uint64_t listed, std::string_view tag) {
    constexpr std::uint64_t least = 1 << 10;  // Smaller differences are rounding.
    if (whole > listed && whole - listed >= least) add_block(whole - listed, {}, 0, tag);
  }

  void add_listed(const Report& report) {
    if (report.form != Form::compile) {
      if (report.form == Form::cores)
        for (const Part& part : report.program_parts) add_block(bytes_of(part.size), {}, 0, part.name);
      return;
    }
    MaybeBytes arguments;
    for (const Part& part : report.total_parts) {
      if (part.name == "reserved" && part.size) add_block(part.size->bytes, {}, 0, "reserved");
      if (part.name == "arguments") arguments = part.size;
    }
    const std::uint64_t listed = add_allocations(report.program_allocations);
    add_rest(bytes_of(report.requirement), listed, "program, not listed");
    const std::uint64_t others = add_allocations(report.arguments_and_outputs);
    const std::uint64_t output = bytes_of(report.output), shared = bytes_of(report.output_shared);
    add_rest(bytes_of(arguments) + (output > shared ? output - shared : 0), others,
             "arguments and outputs, not listed");
  }

  // A device's own statistics: the loaded programs at the bottom, the buffers, and free memory.
  void add_statistics(const Report& report) {
    if (report.reserved) add_block(report.reserved->bytes, {}, 0, "reserved for programs");
    add_block(report.used->bytes, {}, 0, "buffers");
  }

  void add_figure(std::string_view name, const MaybeBytes& value) {
    if (!value) return;
    wire::CounterRecord counter;
    counter.value = static_cast<std::int64_t>(std::min(value->bytes, std::uint64_t{1} << 62));
    counter.name = writer_.define_string(name);
    counter.heap = heap_;
    writer_.add(counter, 0);
  }

  void add_failure(const Report& report) {
    wire::OutOfMemoryRecord record;
    record.requested = report.requested->bytes;
    record.available = report.available ? report.available->bytes : wire::unknown_bytes;
    record.heap = heap_;
    record.reason = writer_.define_string(report.headline);
    writer_.add(record, 0);
  }

  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  std::map<std::string, std::uint32_t> last_heap_;  // By memory space.
  std::map<std::string, std::size_t> names_;
  std::uint32_t heap_ = 0;
  std::size_t heaps_ = 0;
  std::uint64_t address_ = 0;
};

}  // namespace

bool looks_like_tpu_oom(std::span<const std::uint8_t> bytes) {
  return has_report(text_from_bytes(bytes));
}

Result<Trace> read_tpu_oom(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control) {
  if (control != nullptr) control->total_bytes = bytes.size();
  const std::vector<Report> reports = find_reports(text_from_bytes(bytes), reports_max + 1);
  if (reports.empty())
    return Failure(Error{"it has no report of a TPU that ran out of memory",
                         "It holds a line with RESOURCE_EXHAUSTED, or Ran out of memory in memory space hbm.", name, 0,
                         false});
  TraceMaker maker(name, bytes.size());
  std::size_t repeats = 0;
  for (std::size_t i = 0; i < std::min(reports.size(), reports_max); ++i) {
    if (control != nullptr && control->cancelled) return Failure(refusal("reading was cancelled", {}, name));
    if (i > 0 && is_repeat(reports[i], reports[i - 1]))
      ++repeats;
    else
      maker.add(reports[i]);
  }
  if (control != nullptr) control->done_bytes = bytes.size();
  return maker.finish(repeats, reports.size() > reports_max ? 1 : 0);
}

namespace {

// A report may be anywhere in a log, so all of it is scanned. Profiles, which are not text, are skipped.
bool has_report(InputFile& file) {
  constexpr std::size_t looked_at = 64;
  constexpr std::uint64_t log_bytes_max = std::uint64_t{1} << 30;
  const auto is_text = [](std::uint8_t byte) {
    return byte >= ' ' || (byte >= '\t' && byte <= '\r') || byte == '\x1b';
  };
  const auto first = file.beginning().first(std::min(file.beginning().size(), looked_at));
  if (first.empty() || !std::all_of(first.begin(), first.end(), is_text)) return false;
  const auto bytes = file.bytes();
  if (!bytes) return false;
  ImportStatistics unused;  // The reader counts these.
  const auto text = unzip(*bytes, file.name(), log_bytes_max, unused);
  return text && looks_like_tpu_oom(text->bytes);
}

}  // namespace

constinit const Format tpu_oom_format = {
    .name = "a log with a TPU's out-of-memory report",
    .other_endings = ".log .txt",
    .looks_like = has_report,
    .read =
        [](InputFile& file, const FileOptions& options, ReadControl* control) {
          return read_unzipped(file, options, [&](std::span<const std::uint8_t> text) {
            return read_tpu_oom(text, file.name(), control);
          });
        },
    .beginning = "one has a line with RESOURCE_EXHAUSTED, or Ran out of memory in memory space hbm",
    .hint = "Give the job's whole output, or the text of the error alone.",
};

}  // namespace hbmscope
