#include "analysis/read/log/trace_from_log.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "analysis/read/attribute.h"
#include "analysis/read/bfc/reported_bins.h"
#include "analysis/read/bfc/trace_from_bfc.h"
#include "analysis/read/log/log_heaps.h"
#include "analysis/read/log/mentions.h"
#include "analysis/read/tpu_oom/report_writer.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"
#include "analysis/units/format.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::log {
namespace {

std::string_view framework_of(const Finding& finding) {
  if (finding.report) return "xla:tpu";
  return finding.dump ? "xla:gpu" : finding.sentence->wording->framework;
}

// That of all failures, or empty if they differ.
std::string framework_of(const Findings& findings) {
  std::set<std::string_view> all;
  for (const Finding& finding : findings.failures) all.insert(framework_of(finding));
  if (findings.failures.empty())
    for (const Accounting& accounting : findings.accountings) all.insert(accounting.sentence.wording->framework);
  if (all.empty())
    for (const Series& series : findings.series)
      if (series.wording != nullptr) all.insert(series.wording->framework);
  return all.size() == 1 ? std::string(*all.begin()) : std::string();
}

std::string text_from_printed(const PrintedBytes& size) {
  return hbmscope::text_from_bytes(static_cast<std::int64_t>(std::min(size.bytes, std::uint64_t{1} << 62)));
}

// "2.00 GiB, f32[32,4096,4096], dot_general in attention.py:1059"
std::string text_from_buffer(const tpu_oom::Allocation& buffer) {
  std::string text = text_from_printed(*buffer.size);
  if (!buffer.shape.empty()) text += ", " + buffer.shape.substr(0, buffer.shape.find('{'));
  const std::string operation = buffer.op_name.substr(buffer.op_name.rfind('/') + 1);
  if (!operation.empty()) text += ", " + operation.substr(0, operation.find('['));
  if (!buffer.source_file.empty()) text += fmt::format(" in {}:{}", buffer.source_file, buffer.source_line);
  if (operation.empty() && !buffer.tag.empty()) text += ", " + buffer.tag.substr(0, buffer.tag.find('@'));
  return text;
}

// What the memory was for: by the words of the failure, or by what the traceback was doing.
std::string_view part_of(const Finding& finding) {
  if (finding.sentence && !finding.sentence->part.empty()) return finding.sentence->part;
  constexpr std::pair<std::string_view, std::string_view> functions[] = {
      {"load_model", part::weights},         {"load_weights", part::weights},  {"create_weights", part::weights},
      {"initialize_model", part::weights},   {"profile_run", part::measuring}, {"_dummy_run", part::measuring},
      {"allocate_kv_cache", part::kv_cache}, {"capture", part::graphs},        {"full_state_dict", part::saving},
      {"save_model", part::saving},          {"save_checkpoint", part::saving}};
  for (auto frame = finding.frames.rbegin(); frame != finding.frames.rend(); ++frame)
    for (const auto& [words, part] : functions)
      if (frame->function.find(words) != std::string::npos) return part;
  return {};
}

class LogWriter {
 public:
  LogWriter(const Findings& findings, const std::string& file, std::uint64_t file_bytes)
      : findings_(findings),
        out_({file, "log", "log of a job", framework_of(findings), file_bytes, TraceOrigin::texts}),
        writer_(out_.events()),
        reports_(writer_, out_.trace().import),
        heaps_(findings, writer_),
        series_(findings, writer_, heaps_) {}

  Trace write() {
    for (const Accounting& accounting : findings_.accountings) add(accounting);
    // What the driver refused counts as a failure if nothing else failed: nobody says that a smaller request was
    // served.
    const auto is_refusal_of_driver = [](const Finding& finding) {
      return finding.sentence && finding.sentence->wording->kind == SentenceKind::refusal;
    };
    const bool has_only_refusals =
        std::all_of(findings_.failures.begin(), findings_.failures.end(), is_refusal_of_driver);
    for (const Finding& finding : findings_.failures) {
      series_.write_until(finding.place.line);
      const bool is_refusal = is_refusal_of_driver(finding) && !has_only_refusals;
      if (is_refusal_of_driver(finding) && wants_a_little_more(finding))
        note_first_try(finding);
      else if (!finding.got_over.empty())
        note_what_was_got_over(finding);
      else if (finding.report)
        add_report(finding);
      else if (is_refusal)
        add_refusal(finding);
      else
        add_failure(finding, finding.dump && !finding.is_line_only ? heap_of_dump(finding) : heap_of_line(finding));
    }
    series_.write_until(findings_.lines + 1);
    if (const auto rank = heaps_.only_rank()) writer_.add_job_fact(wire::rank_fact, std::to_string(*rank));
    note();
    out_.close();
    return std::move(out_.trace());
  }

 private:
  std::uint32_t heap_of_dump(const Finding& finding) {
    const bfc::Dump& dump = *finding.dump;
    const std::string allocator = dump.allocator.empty() ? "BFC allocator" : dump.allocator;
    std::string name = heaps_.name_of(allocator, finding.speaker);
    const bool is_whole = dump.has_all_chunks(), has_list = !dump.regions.empty();
    if (!is_whole) name += has_list ? " (list cut off)" : " (without a list)";
    std::uint32_t& heap = heaps_[name];
    if (heap == 0) heap = bfc::define_heap(writer_, dump, name);
    if (has_list)
      bfc::list_chunks(writer_, heap, dump, out_.trace().import);
    else
      heaps_.hold(heap, dump.reported_in_use());
    bfc::check_sums(dump, out_.trace().import);
    if (!is_whole) note_cut(heap, finding.place, dump);
    bfc::for_each_bin_figure(
        dump, [&](const std::string& figure, const MaybeBytes& value) { heaps_.set_figure(heap, figure, value); });
    heaps_.set_figure(heap, reported_figure::limit, dump.limit);
    heaps_.set_figure(heap, reported_figure::rounded_request,
                      dump.rounded ? MaybeBytes(PrintedBytes{*dump.rounded, 0}) : std::nullopt);
    return heap;
  }

  // What is free follows from a whole list; of a part of it, only the dump's own figures are known.
  void note_cut(std::uint32_t heap, const Place& place, const bfc::Dump& dump) {
    out_.trace().import.add(
        "dumps_cut_off", Severity::notice, 1,
        "The list of chunks is incomplete, so what is free is known only as far as the text says "
        "it. The whole output of the job may have the rest.",
        fmt::format("line {}: {}", place.line, dump.allocator.empty() ? "BFC allocator" : dump.allocator));
    heaps_.set_figure(heap, reported_figure::used, dump.reported_in_use());
    heaps_.set_figure(heap, reported_figure::free, dump.total_free ? dump.total_free : free_of(dump));
    heaps_.set_figure(heap, reported_figure::largest_free, largest_of(dump));
    heaps_.set_figure(heap, reported_figure::pool, dump.pool);
  }

  static MaybeBytes free_of(const bfc::Dump& dump) {
    const MaybeBytes used = dump.reported_in_use();
    if (!dump.pool || !used || dump.pool->bytes < used->bytes) return std::nullopt;
    return PrintedBytes{dump.pool->bytes - used->bytes, dump.pool->error + used->error};
  }

  static MaybeBytes largest_of(const bfc::Dump& dump) {
    if (dump.largest_free || dump.free_in_bin.empty()) return dump.largest_free;
    // The free chunks of the request's bin. A free chunk of a larger bin would have served the request.
    return *std::max_element(dump.free_in_bin.begin(), dump.free_in_bin.end(),
                             [](const PrintedBytes& a, const PrintedBytes& b) { return a.bytes < b.bytes; });
  }

  // For a failure of which only a line tells.
  std::uint32_t heap_of_line(const Finding& finding) {
    const Sentence line = finding.sentence.value_or(Sentence{});
    const std::string allocator = finding.sentence ? line.allocator : finding.dump->allocator;
    const std::string name = heaps_.name_of(allocator, finding.speaker, line.device);
    const std::string_view kind = finding.sentence ? line.wording->memory : std::string_view();
    const std::uint32_t device = line.device ? *line.device : bfc::device_of_allocator(allocator);
    const std::uint32_t heap =
        heaps_.define(name, kind.empty() ? device : wire::no_device,
                      kind.empty() ? bfc::memory_kind_of_allocator(allocator) : kind, wire::Layer::chunk);
    heaps_.hold(heap, line.used);
    heaps_.set_figure(heap, reported_figure::used, line.used);
    heaps_.set_figure(heap, reported_figure::free, line.free);
    heaps_.set_figure(heap, reported_figure::largest_free, line.largest);
    heaps_.set_figure(heap, reported_figure::pool, line.pool);
    heaps_.set_figure(heap, reported_figure::limit, line.limit ? line.limit : limit_of_compiler(finding));
    heaps_.set_figure(heap, reported_figure::device, line.total);
    return heap;
  }

  // The size that XLA's compiler tried to stay below, of a program that then was too large.
  MaybeBytes limit_of_compiler(const Finding& finding) const {
    for (const Accounting& one : findings_.accountings)
      if (finding.sentence && finding.sentence->wording->framework == "xla:gpu" &&
          one.sentence.wording->framework == "xla:gpu" && one.place.line < finding.place.line)
        return one.sentence.limit && one.sentence.limit->bytes > 0 ? one.sentence.limit : std::nullopt;
    return std::nullopt;
  }

  std::uint32_t stack_of(const std::vector<TracebackFrame>& frames) {
    std::uint32_t stack = 0;
    for (const TracebackFrame& frame : frames)
      stack = writer_.define_stack(stack, writer_.define_frame(frame.function, frame.file, frame.line));
    return stack;
  }

  void add_detail(std::uint64_t event, std::string_view key, std::string_view value) {
    add_attribute(writer_, event, key, value);
  }

  void add_details(std::uint64_t event, const Finding& finding) {
    add_detail(event, failure_detail::line, std::to_string(finding.place.line));
    add_detail(event, failure_detail::byte, std::to_string(finding.place.byte));
    const LogSpeaker& by = findings_.speakers[finding.speaker];
    add_detail(event, failure_detail::speaker, by.name);
    if (by.rank) add_detail(event, failure_detail::rank, std::to_string(*by.rank));
    if (finding.times > 1) add_detail(event, failure_detail::times, std::to_string(finding.times));
    add_detail(event, failure_detail::framework, findings_.framework);
    const bool is_of_ggml = framework_of(finding) == "ggml";
    add_detail(event, failure_detail::engine, findings_.words.engine(is_of_ggml));
    add_detail(event, failure_detail::platform, findings_.words.platform());
    add_detail(event, failure_detail::checkpointing, findings_.words.checkpointing());
    for (const auto& [name, value] : findings_.words.settings()) add_detail(event, name, value);
    add_growth(event);
    if (findings_.series.empty()) add_detail(event, failure_detail::steps_before, finding.steps_before);
    if (findings_.words.is_alone()) add_detail(event, failure_detail::alone, failure_detail::yes);
    add_detail(event, failure_detail::torch_version, findings_.words.torch_version());
    if (const std::string& mib = findings_.words.driver_mib(); !mib.empty() && mib.size() < 9)
      add_detail(event, failure_detail::driver_memory, std::to_string(std::stoull(mib) << 20));
    if (!finding.sentence || !finding.sentence->requested) add_use_of_devices(event);
    const bool is_of_vllm = findings_.words.engine(is_of_ggml) == engine::vllm && finding.sentence;
    add_detail(event, failure_detail::part, is_of_vllm && has_no_blocks() ? part::no_cache : part_of(finding));
    if (finding.dump) {
      add_detail(event, failure_detail::allocator, finding.dump->allocator);
      add_detail(event, failure_detail::operation, finding.dump->op);
      if (finding.dump->unallocated && finding.dump->unallocated->bytes > 0)
        add_detail(event, "the pool may still claim", text_from_printed(*finding.dump->unallocated));
    }
    if (!finding.sentence) return;
    const Sentence& said = *finding.sentence;
    if (!finding.dump) add_detail(event, failure_detail::allocator, said.allocator);
    add_detail(event, failure_detail::program, said.program);
    add_detail(event, failure_detail::operation, said.op);
    add_detail(event, failure_detail::shape, said.shape);
    add_detail(event, failure_detail::setting, said.setting);
    add_detail(event, failure_detail::suggested, said.suggested);
    // The driver of Windows reports no memory of single processes, and PyTorch prints that as 2^64 bytes.
    if (findings_.words.platform().empty() &&
        said.text.find("this process has 17179869184.00 GiB") != std::string::npos)
      add_detail(event, failure_detail::platform, failure_detail::windows);
    if (said.wording->kind == SentenceKind::kill) {
      add_detail(event, failure_detail::killed_by, said.allocator);
      add_detail(event, failure_detail::killer, said.wording->killer);
    }
    for (const auto& [name, size] : said.others)
      // What processes hold is counted with, so nothing is rounded.
      if (size)
        add_detail(event, name,
                   name == "this process" || name.starts_with("process ") ? std::to_string(size->bytes)
                                                                          : text_from_printed(*size));
  }

  // What nvidia-smi shows in the text, of a failure without figures of its own.
  void add_use_of_devices(std::uint64_t event) {
    add_detail(event, failure_detail::table_process, findings_.largest_process);
    for (const Series& series : findings_.series) {
      const auto &used = series.last[StatusFigure::used], &total = series.last[StatusFigure::total];
      if (!series.is_of_device || !used || !total) continue;
      const std::string name = series.device ? fmt::format("GPU {} by the table", *series.device) : "by the table";
      add_detail(event, name,
                 fmt::format("{} of {} was in use (line {})", text_from_printed({*used, 0}),
                             text_from_printed({*total, 0}), series.last.place.line));
    }
  }

  // What grows in the text beside the failure.
  void add_growth(std::uint64_t event) {
    for (const ReadingsInText& one : findings_.readings) {
      const auto is_less = [](const auto& a, const auto& b) { return a.value < b.value; };
      const bool rises = std::is_sorted(one.readings.begin(), one.readings.end(), is_less) && changes(one);
      if (rises) return add_detail(event, failure_detail::grows, text_from_readings(one));
    }
  }

  // vLLM also says that nothing is left for its KV cache.
  bool has_no_blocks() const {
    return std::any_of(findings_.failures.begin(), findings_.failures.end(), [](const Finding& one) {
      return one.sentence && one.sentence->wording->anchor == "No available memory for the cache blocks";
    });
  }

  // The request as exactly as the text has it. The rounded size is exact to 255 bytes, the printed one to two decimals.
  static std::uint64_t requested_of(const Finding& finding) {
    MaybeBytes requested;
    if (finding.sentence) requested = finding.sentence->requested;
    if (finding.dump && (!requested || requested->error > 0)) {
      if (finding.dump->rounded) return *finding.dump->rounded;
      if (finding.dump->requested) requested = finding.dump->requested;
    }
    return requested ? requested->bytes : 0;
  }

  // What the sentence says, or ggml before it took anything.
  MaybeBytes available_of(const Finding& finding) const {
    if (!finding.sentence || finding.sentence->available)
      return finding.sentence ? finding.sentence->available : std::nullopt;
    const std::string_view framework = finding.sentence->wording->framework;
    const bool is_of_tensorflow = framework == "xla:gpu" && finding.sentence->wording->kind == SentenceKind::refusal;
    if (framework != "ggml" && !is_of_tensorflow) return std::nullopt;
    const auto device = finding.sentence->device;
    const auto is_of_device = [&](const Accounting& one) {
      return one.sentence.wording->framework == framework &&
             (!device || !one.sentence.device || one.sentence.device == device);
    };
    const auto has_parts = [&](const Accounting& one) { return is_of_device(one) && !one.sentence.parts.empty(); };
    const std::vector<Accounting>& all = findings_.accountings;
    if (std::any_of(all.begin(), all.end(), has_parts) || std::count_if(all.begin(), all.end(), is_of_device) != 1)
      return std::nullopt;
    const Sentence& said = std::find_if(all.begin(), all.end(), is_of_device)->sentence;
    for (const auto& [name, bytes] : said.others)
      if (name == reported_figure::free_before) return bytes;
    return std::nullopt;
  }

  void add_failure(const Finding& finding, std::uint32_t heap) {
    if (!finding.peak_buffers.empty()) {
      const std::string& program = finding.sentence->program;
      reports_.add_program(
          heaps_.name_of(program.empty() ? "program at its peak" : program + " at its peak", finding.speaker), "device",
          finding.peak_buffers);
    }
    wire::OutOfMemoryRecord record;
    record.requested = requested_of(finding);
    if (const MaybeBytes available = available_of(finding)) record.available = available->bytes;
    record.heap = heap;
    record.stack = stack_of(finding.frames);
    record.reason = writer_.define_string(finding.sentence ? finding.sentence->text : finding.dump->headline);
    add_details(writer_.add(record, 0), finding);
  }

  void add_refusal(const Finding& finding) {
    out_.trace().import.add("driver_refusals", Severity::notice, 1,
                            "The driver refused a request; whether the allocator above tried again is unknown.",
                            fmt::format("line {}: {}", finding.place.line, finding.sentence->text));
  }

  // A pool that wants the whole device at its start, of which the context has a little.
  bool wants_a_little_more(const Finding& finding) const {
    constexpr std::uint64_t part = 16;
    const MaybeBytes available = available_of(finding);
    const std::uint64_t wanted = requested_of(finding);
    return available && available->bytes < wanted && wanted - available->bytes <= wanted / part;
  }

  void note_first_try(const Finding& finding) {
    out_.trace().import.add(
        "got_over", Severity::notice, 1, "The program was refused memory and went on without it: not a failure.",
        fmt::format("line {}: \"{}\". Of that {} was free. The pool wants nearly all of the device when it starts, and "
                    "then requests less by itself; a smaller fraction (0.95, for example) avoids the message.",
                    finding.place.line, finding.sentence->text, text_from_printed(*available_of(finding))));
  }

  void note_what_was_got_over(const Finding& finding) {
    out_.trace().import.add("got_over", Severity::notice, 1,
                            "The program was refused memory and went on without it: not a failure.",
                            fmt::format("line {}: \"{}\", then \"{}\". {}", finding.place.line, finding.sentence->text,
                                        finding.got_over, finding.meaning));
  }

  void add_report(const Finding& finding) {
    const tpu_oom::Report& report = *finding.report;
    const auto event = reports_.add(report, heaps_.owner_of(finding.speaker), stack_of(finding.frames));
    if (!event) return;
    add_details(*event, finding);
    add_detail(*event, failure_detail::program, report.program);
    if (is_of_compiler(report.form)) add_detail(*event, failure_detail::stage, failure_detail::compiler);
    if (report.form == tpu_oom::Form::program) add_detail(*event, failure_detail::stage, failure_detail::loader);
    if (report.fragmentation)
      add_detail(*event, "lost to fragmentation of temporaries", text_from_printed(*report.fragmentation));
    for (const tpu_oom::Part& part : report.total_parts)
      for (const auto& [name, detail] : {std::pair(failure_detail::arguments, failure_detail::arguments),
                                         std::pair(failure_detail::program, failure_detail::own_part)})
        if (part.name == name && part.size) add_detail(*event, detail, text_from_printed(*part.size));
    if (report.output_shared && report.output && report.output_shared->bytes > 0 &&
        report.output_shared->bytes >= report.output->bytes - report.output->bytes / 64)
      add_detail(*event, failure_detail::donated, text_from_printed(*report.output_shared));
    if (report.exceeded) add_detail(*event, failure_detail::exceeded, text_from_printed(*report.exceeded));
    const auto largest = std::max_element(
        report.program_allocations.begin(), report.program_allocations.end(), [](const auto& a, const auto& b) {
          return a.size.value_or(PrintedBytes{}).bytes < b.size.value_or(PrintedBytes{}).bytes;
        });
    if (largest != report.program_allocations.end() && largest->size)
      add_detail(*event, failure_detail::largest_buffer, text_from_buffer(*largest));
    // Unless the program's own sum says it.
    if (report.padded && report.unpadded && report.padded->bytes > report.unpadded->bytes) {
      // Where that is less than what is missing, shapes are no remedy.
      const std::uint64_t lost = report.padded->bytes - report.unpadded->bytes;
      const bool is_enough = lost >= (report.exceeded ? report.exceeded->bytes : report.padded->bytes / 10);
      add_detail(*event, is_enough ? "padding of the temporaries" : "lost to padding of the temporaries",
                 fmt::format("{} of {}",
                             text_from_printed({report.padded->bytes - report.unpadded->bytes, report.padded->error}),
                             text_from_printed(*report.padded)));
      return;
    }
    PrintedBytes padding;
    for (const tpu_oom::Allocation& each : report.program_allocations)
      if (each.size && each.unpadded && each.size->bytes > each.unpadded->bytes)
        padding.bytes += each.size->bytes - each.unpadded->bytes;
    if (padding.bytes > 0) add_detail(*event, "padding of the listed buffers", text_from_printed(padding));
  }

  void add(const Accounting& accounting) {
    Sentence said = accounting.sentence;
    add_weights(said);
    if (said.parts.empty()) return;
    wire::HeapRecord record;
    record.layer = static_cast<std::uint8_t>(wire::Layer::program);
    record.device = wire::no_device;
    const std::string name =
        heaps_.name_of(fmt::format("{} at its start", said.allocator), accounting.speaker, said.device);
    const std::uint32_t heap = writer_.define_heap(record, name, "device");
    std::uint64_t address = 0;
    for (const auto& [part, size] : said.parts) {
      wire::AllocRecord block;
      block.address = address;
      block.size = size->bytes;
      block.requested = wire::unknown_bytes;
      block.heap = heap;
      block.tag = writer_.define_string(part.starts_with('+') ? std::string_view(part).substr(1) : part);
      address += block.size;
      writer_.alloc(block, 0);
    }
    heaps_.set_figure(heap, reported_figure::limit, said.limit);
    heaps_.set_figure(heap, reported_figure::device, said.total);
    // What it says of all devices, and then of this one.
    for (const Accounting& one : findings_.accountings)
      if (one.speaker == accounting.speaker && one.sentence.wording->framework == said.wording->framework &&
          !one.sentence.device)
        heaps_.set_figures(heap, one.sentence.others);
    heaps_.set_figures(heap, said.others);
  }

  void note() {
    ImportStatistics& import = out_.trace().import;
    import.add("lines", Severity::info, static_cast<std::int64_t>(findings_.lines));
    import.add("failures", Severity::info, static_cast<std::int64_t>(findings_.failures.size()));
    for (const Recovery& one : findings_.recoveries)
      if (findings_.failures.empty())
        import.add(
            "got_over", Severity::notice, 1, "The program was refused memory and went on without it: not a failure.",
            fmt::format("line {}: \"{}\". {}", one.place.line, one.sentence.text, one.sentence.wording->meaning));
    if (!findings_.recording.empty())
      import.add("recorded", Severity::info, 1, "hbmscope recorded this job.", findings_.recording);
    note_mentions(findings_, import);
    note_series();
    std::uint64_t repeats = 0;
    for (const Finding& finding : findings_.failures) repeats += finding.times - 1;
    if (repeats > 0)
      import.add("repeated_failures", Severity::notice, static_cast<std::int64_t>(repeats),
                 "Said more than once with the same figures; counted once.");
    if (findings_.performance_notes > 0)
      import.add("not_failures", Severity::notice, static_cast<std::int64_t>(findings_.performance_notes),
                 "Requests that an allocator refused although the program could do without: not failures.");
    if (findings_.left_out > 0)
      import.add("failures_left_out", Severity::loss, static_cast<std::int64_t>(findings_.left_out),
                 "There are too many failures; the first ones are read.");
  }

  void note_series() {
    constexpr std::size_t named_max = 8;
    std::string texts;
    std::size_t named = 0, others = 0;
    std::uint64_t lines = 0;
    for (const Series& series : findings_.series) {
      const auto text = text_from_series(series);
      if (!text) continue;
      lines += series.lines;
      if (named++ < named_max)
        texts += (texts.empty() ? "" : " ") + *text;
      else
        ++others;
    }
    if (others > 0) texts += fmt::format(" And {}.", text_from_count_of(others, "other"));
    if (lines == 0 && findings_.failures.empty()) {
      for (const ToldGrowth& one : findings_.growths)
        texts += fmt::format("{}line {} says \"{}\": {} more{}.", lines++ == 0 ? "" : " ", one.line, one.text,
                             text_from_bytes(one.to_bytes - one.from_bytes),
                             one.is_flat_at_end ? ", and no more at the end" : "");
      for (std::size_t i = 0; i < std::min(findings_.readings.size(), named_max / 2); ++i) {
        texts += (texts.empty() ? "" : " ") + text_from_readings(findings_.readings[i]);
        lines = std::max<std::uint64_t>(lines, findings_.readings[i].readings.size());
      }
    }
    if (lines > 0) out_.trace().import.add("memory_lines", Severity::info, static_cast<std::int64_t>(lines), {}, texts);
  }

  const Findings& findings_;
  TraceWriter out_;
  wire::StreamWriter& writer_;
  tpu_oom::ReportWriter reports_;
  LogHeaps heaps_;
  SeriesWriter series_;
};

}  // namespace

Trace trace_from_log(const Findings& findings, const std::string& file, std::uint64_t file_bytes) {
  return LogWriter(findings, file, file_bytes).write();
}

}  // namespace hbmscope::log
