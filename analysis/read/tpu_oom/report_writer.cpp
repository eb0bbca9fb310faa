#include "analysis/read/tpu_oom/report_writer.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "analysis/read/attribute.h"
#include "analysis/read/counter.h"
#include "analysis/read/op_name_stack.h"
#include "analysis/trace/reported_figures.h"

namespace hbmscope::tpu_oom {
namespace {

constexpr std::uint64_t block_bytes_max = std::uint64_t{1} << 52;  // Keeps invented addresses from overflowing.

std::uint64_t bytes_of(const MaybeBytes& size) {
  return size ? size->bytes : 0;
}

bool knows_padding(const std::vector<Allocation>& list) {
  return std::any_of(list.begin(), list.end(), [](const Allocation& each) { return each.unpadded.has_value(); });
}

}  // namespace

bool has_same_figures(const Report& a, const Report& b) {
  return a.form == b.form && a.memory_space == b.memory_space && is_same(a.requested, b.requested) &&
         is_same(a.limit, b.limit) && is_same(a.free, b.free);
}

std::optional<std::uint64_t> ReportWriter::add(const Report& report, std::string_view owner, std::uint32_t stack) {
  note(report);
  // check_report names what is cut off. A kernel's stack that is too large is a failure even without its sizes.
  if (report.form != Form::statistics && report.form != Form::scoped && !report.requested) return std::nullopt;
  make_heap(report, owner);
  if (report.form == Form::statistics)
    add_statistics(report);
  else
    add_listed(report);
  add_figure(reported_figure::used, report.used);
  add_figure(reported_figure::limit, report.limit);
  add_figure(reported_figure::free, report.free);
  add_figure(reported_figure::largest_free, report.largest_free);
  if (report.form == Form::statistics) return std::nullopt;
  add_figure(reported_figure::reserved, report.reserved);
  return add_failure(report, stack);
}

void ReportWriter::add_program(const std::string& name, std::string_view memory_kind,
                               const std::vector<Allocation>& buffers) {
  wire::HeapRecord heap;
  heap.flags = knows_padding(buffers) ? wire::heap_flag::has_requested : 0;
  begin_heap(heap, name, memory_kind);
  add_allocations(buffers);
}

void ReportWriter::note(const Report& report) {
  const Check check = check_report(report);
  if (check.identities > 0) import_.add("sums_checked", Severity::info, static_cast<std::int64_t>(check.identities));
  for (const std::string& difference : check.differences)
    import_.add("sums_differ", Severity::warning, 1,
                "Figures of a report do not add up, beyond rounding; they are shown as printed.", difference);
  for (const std::string& cut : check.cuts)
    import_.add("text_cut", Severity::notice, 1,
                "The report is incomplete, and the rest is unknown. The log of the job may have all of it.",
                fmt::format("byte {}: {}", report.begin, cut));
}

void ReportWriter::make_heap(const Report& report, std::string_view owner) {
  const std::string space = report.memory_space.empty() ? "unknown memory" : report.memory_space;
  std::uint32_t& last = last_heap_[fmt::format("{} {}", space, owner)];
  if (last != 0) {
    wire::HeapGoneRecord gone;
    gone.heap = last;
    writer_.drop_heap(gone, 0);
  }
  wire::HeapRecord heap;
  heap.flags = knows_padding(report.program_allocations) ? wire::heap_flag::has_requested : 0;
  std::string name = space;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (!report.program.empty()) name += fmt::format(" of {}", report.program);
  if (!owner.empty()) name += fmt::format(", {}", owner);
  begin_heap(heap, std::move(name), report.memory_space);
  last = heap_;
}

void ReportWriter::begin_heap(wire::HeapRecord heap, std::string name, std::string_view memory_kind) {
  heap.device = wire::no_device;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::program);
  const std::size_t same = ++names_[name];
  if (same > 1) name += fmt::format(" ({})", same);
  heap_ = writer_.define_heap(heap, name, memory_kind);
  ++heaps_;
  address_ = 0;
}

std::uint64_t ReportWriter::add_block(std::uint64_t bytes, const MaybeBytes& unpadded, std::uint32_t stack,
                                      std::string_view tag) {
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

std::uint32_t ReportWriter::stack_of(const Allocation& allocation) {
  return define_op_name_stack(writer_, allocation.op_name, allocation.source_file, allocation.source_line);
}

std::uint64_t ReportWriter::add_allocations(const std::vector<Allocation>& list) {
  std::uint64_t sum = 0;
  for (const Allocation& allocation : list) {
    const std::uint64_t bytes = bytes_of(allocation.size);
    if (bytes == 0) continue;
    const std::string& label = allocation.label;
    const std::string tag =
        label.empty() ? allocation.shape.substr(0, allocation.shape.find('{')) : label.substr(0, label.find(" = "));
    const std::uint64_t block = add_block(bytes, allocation.unpadded, stack_of(allocation), tag);
    add_attribute(writer_, block, "shape", allocation.shape);
    add_attribute(writer_, block, "allocation_type", allocation.type);
    add_attribute(writer_, block, "xla_label", label);
    add_attribute(writer_, block, "buffer", allocation.tag);
    sum += bytes;
  }
  return sum;
}

void ReportWriter::add_rest(std::uint64_t whole, std::uint64_t listed, std::string_view tag) {
  constexpr std::uint64_t least = 1 << 10;  // Smaller differences are rounding.
  if (whole > listed && whole - listed >= least) add_block(whole - listed, {}, 0, tag);
}

void ReportWriter::add_listed(const Report& report) {
  if (report.form != Form::compile) {
    if (report.form == Form::cores)
      for (const Part& part : report.program_parts) add_block(bytes_of(part.size), {}, 0, part.name);
    return;
  }
  MaybeBytes arguments, program = report.requirement;
  for (const Part& part : report.total_parts) {
    if (part.name == "reserved" && part.size) add_block(part.size->bytes, {}, 0, "reserved");
    if (part.name == "arguments") arguments = part.size;
    if (part.name == "program" && !program) program = part.size;  // A text that ends before its own table.
  }
  const std::uint64_t listed = add_allocations(report.program_allocations);
  add_rest(bytes_of(program), listed, "program, not listed");
  const std::uint64_t others = add_allocations(report.arguments_and_outputs);
  const std::uint64_t output = bytes_of(report.output), shared = bytes_of(report.output_shared);
  add_rest(bytes_of(arguments) + (output > shared ? output - shared : 0), others, "arguments and outputs, not listed");
}

// A device's own statistics: the loaded programs at the bottom, the buffers, and free memory.
void ReportWriter::add_statistics(const Report& report) {
  if (report.reserved) add_block(report.reserved->bytes, {}, 0, "reserved for programs");
  add_block(report.used->bytes, {}, 0, "buffers");
}

void ReportWriter::add_figure(std::string_view name, const MaybeBytes& value) {
  if (!value) return;
  add_counter(writer_, name, static_cast<std::int64_t>(std::min(value->bytes, std::uint64_t{1} << 62)), heap_, 0);
}

std::uint64_t ReportWriter::add_failure(const Report& report, std::uint32_t stack) {
  wire::OutOfMemoryRecord record;
  record.requested = bytes_of(report.requested);
  record.available = wire::unknown_bytes;
  record.heap = heap_;
  record.stack = stack;
  record.reason = writer_.define_string(report.headline);
  return writer_.add(record, 0);
}

}  // namespace hbmscope::tpu_oom
