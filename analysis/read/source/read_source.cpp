#include "analysis/read/source/read_source.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analysis/read/file_bytes.h"
#include "analysis/read/gzip.h"
#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/kineto/read_kineto.h"
#include "analysis/read/pprof/read_pprof.h"
#include "analysis/read/recording/read_recording.h"
#include "analysis/read/rmm/read_rmm.h"
#include "analysis/read/torch/read_torch.h"
#include "analysis/read/torch/trace_from_torch.h"
#include "analysis/read/tpu_oom/read_tpu_oom.h"

namespace hbmscope {
namespace {

using Bytes = std::span<const std::uint8_t>;

Result<Trace> read_recorded_trace(Bytes bytes, const std::string& name, const SourceOptions& options,
                                  ReadControl* control) {
  return read_recording(bytes, name, options.max_inflated_bytes, control);
}

Result<Trace> read_torch_trace(Bytes bytes, const std::string& name, const SourceOptions& options,
                               ReadControl* control) {
  TorchReadOptions torch;
  torch.max_inflated_bytes = options.max_inflated_bytes;
  std::optional<TorchSnapshot> state;
  if (control != nullptr && control->take_part) state = read_torch_state(bytes, name, torch);
  if (state) control->take_part(std::make_shared<const Trace>(trace_from_torch(*state)));
  const auto snapshot = read_torch(bytes, name, torch, control);
  if (snapshot) return trace_from_torch(*snapshot);
  if (!state || !control->stop_here || control->cancelled) return Failure(snapshot.error());
  state->import.add("stopped_here", Severity::warning, 1,
                    "Reading was stopped: the heap is as the snapshot found it, its history is not here.");
  return trace_from_torch(*state);
}

// What need not lie in memory as a whole. Nothing where its first bytes do not say so, and where somebody waits for the
// part that comes first.
std::optional<Result<Trace>> read_in_pieces(const std::string& file, const SourceOptions& options,
                                            ReadControl* control) {
  if (control != nullptr && control->take_part) return std::nullopt;
  TorchReadOptions torch;
  torch.max_inflated_bytes = options.max_inflated_bytes;
  auto snapshot = read_large_torch(file, torch, control);
  if (!snapshot) return std::nullopt;
  if (!*snapshot) return Failure(std::move(snapshot->error()));
  return trace_from_torch(**snapshot);
}

// Texts and messages, bare or gzipped.
template <class Read>
Result<Trace> read_unzipped(Bytes bytes, const std::string& name, const SourceOptions& options, const Read& read) {
  ImportStatistics import;
  const auto text = unzip(bytes, name, options.max_inflated_bytes, import);
  if (!text) return Failure(text.error());
  Result<Trace> trace = read(text->bytes);
  if (!trace) return Failure(text->told(std::move(trace.error())));
  if (!text->is_inflated) return trace;
  trace->file_bytes = bytes.size();
  for (const ImportStatistic& row : import.rows())
    trace->import.add(row.name, row.severity, row.count, row.remedy, row.example);
  return trace;
}

Result<Trace> read_zipped_recording(Bytes bytes, const std::string& name, const SourceOptions& options,
                                    ReadControl* control) {
  return read_unzipped(bytes, name, options, [&](Bytes recording) {
    return read_recording(recording, name, options.max_inflated_bytes, control);
  });
}

template <Result<Trace> (*read)(Bytes, const std::string&, ReadControl*)>
Result<Trace> read_text_trace(Bytes bytes, const std::string& name, const SourceOptions& options,
                              ReadControl* control) {
  return read_unzipped(bytes, name, options, [&](Bytes text) { return read(text, name, control); });
}

// A file beside this one, unzipped, whose name has `other` where this one's has `what`; either may be gzipped.
struct FileBeside {
  std::string name;
  ByteBuffer file;
  Unzipped text;
};
std::optional<FileBeside> find_beside(const std::string& file, std::string_view what, std::string_view other,
                                      std::uint64_t max_inflated_bytes) {
  const std::filesystem::path path(file);
  std::string name = path.filename().string();
  const std::size_t at = name.rfind(what);
  if (at == std::string::npos) return std::nullopt;
  name.replace(at, what.size(), other);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const char* ending : {"", ".gz"}) {
    FileBeside found{(path.parent_path() / (name + ending)).string(), {}, {}};
    auto bytes = read_file(found.name, max_inflated_bytes);
    if (!bytes) continue;
    found.file = std::move(*bytes);
    ImportStatistics unused;
    auto text = unzip(found.file.bytes(), found.name, max_inflated_bytes, unused);
    if (!text) continue;
    found.text = std::move(*text);
    return found;
  }
  return std::nullopt;
}

// Of one module the text of the buffer assignment tells where values lie, and that of the live ranges when they live:
// whichever is opened, the other one is looked for beside it.
constexpr std::string_view assignment_text = "buffer-assignment", live_range_text = "live-range";

Result<Trace> read_hlo_trace(Bytes bytes, const std::string& name, const SourceOptions& options, ReadControl* control) {
  const auto beside = find_beside(name, assignment_text, live_range_text, options.max_inflated_bytes);
  HloBeside told;
  if (beside && looks_like_live_ranges(beside->text.bytes)) told.live_ranges = beside->text.bytes;
  return read_unzipped(bytes, name, options, [&](Bytes text) { return read_hlo(text, name, control, told); });
}

Result<Trace> read_live_range_trace(Bytes bytes, const std::string& name, const SourceOptions& options,
                                    ReadControl* control) {
  const auto beside = find_beside(name, live_range_text, assignment_text, options.max_inflated_bytes);
  if (beside && looks_like_hlo(beside->text.bytes))
    return read_unzipped(bytes, name, options, [&](Bytes text) {
      return read_hlo(beside->text.bytes, beside->name, control, {text, std::nullopt});
    });
  return Failure(Error{"this text tells when the values of a program live, but not where they lie",
                       "Put the -buffer-assignment.txt of the same module beside it, or open the HloProto.",
                       name,
                       {},
                       false});
}

// Anywhere in a log, so that all of it has to be looked at; profiles, which are no text, are not.
bool has_tpu_report(Bytes bytes, Bytes beginning) {
  constexpr std::size_t looked_at = 64;
  constexpr std::uint64_t log_bytes_max = std::uint64_t{1} << 30;
  const auto is_text = [](std::uint8_t byte) {
    return byte >= ' ' || (byte >= '\t' && byte <= '\r') || byte == '\x1b';
  };
  const Bytes first = beginning.first(std::min(beginning.size(), looked_at));
  if (first.empty() || !std::all_of(first.begin(), first.end(), is_text)) return false;
  if (!is_gzip(bytes)) return looks_like_tpu_oom(bytes);
  ImportStatistics unused;  // The reader counts what it meets.
  const auto inflated = inflate_gzip(bytes, {}, log_bytes_max, unused);
  return inflated && looks_like_tpu_oom(inflated->bytes());
}

// What is not read but made: the trace of a workload is that of its emulation.
bool is_workload(Bytes bytes) {
  return looks_like_tpu_workload(is_gzip(bytes) ? Bytes(inflate_beginning(bytes)) : bytes);
}

// Null: it is none.
Result<std::shared_ptr<const OpenedWorkload>> read_workload(Bytes bytes, const std::string& name,
                                                            const SourceOptions& options, ReadControl* control) {
  if (!is_workload(bytes)) return std::shared_ptr<const OpenedWorkload>();
  ImportStatistics unused;  // What stands behind a text changes nothing in it.
  const auto text = unzip(bytes, name, options.max_inflated_bytes, unused);
  if (!text) return Failure(text.error());
  auto opened = open_workload(text->bytes, name, bytes.size(), options.what_if,
                              control == nullptr ? nullptr : &control->cancelled);
  if (!opened) return Failure(text->told(std::move(opened.error())));
  return std::make_shared<const OpenedWorkload>(std::move(*opened));
}

std::string name_of(const std::string& file) {
  return file == "-" ? "standard input" : file;
}

// How a file's trace is read, by its first bytes; gzip may hold a snapshot or a log as well as a profile. Null: no
// trace.
using ReadTrace = Result<Trace> (*)(Bytes, const std::string&, const SourceOptions&, ReadControl*);
ReadTrace find_trace_reader(Bytes bytes) {
  if (looks_like_recording(bytes)) return read_recorded_trace;
  const std::vector<std::uint8_t> inside = is_gzip(bytes) ? inflate_beginning(bytes) : std::vector<std::uint8_t>();
  const Bytes beginning = is_gzip(bytes) ? Bytes(inside) : bytes;
  if (looks_like_recording(beginning)) return read_zipped_recording;
  if (looks_like_torch(beginning)) return read_torch_trace;
  if (looks_like_rmm(beginning)) return read_text_trace<read_rmm>;
  if (looks_like_kineto(beginning)) return read_text_trace<read_kineto>;
  if (looks_like_hlo(beginning)) return read_hlo_trace;
  if (looks_like_live_ranges(beginning)) return read_live_range_trace;
  if (has_tpu_report(bytes, beginning)) return read_text_trace<read_tpu_oom>;
  return nullptr;
}

}  // namespace

Result<Source> source_at(std::shared_ptr<const Trace> trace, const SourceOptions& options) {
  Source source;
  source.trace = std::move(trace);
  auto moment = find_moment(*source.trace, options.at);
  if (!moment) return Failure(std::move(moment.error()));
  source.moment = std::move(*moment);
  source.states = compute_states(*source.trace, source.moment);
  source.profile = std::make_shared<const Profile>(*profile_from_trace(*source.trace, source.states, options.values));
  return source;
}

Result<Source> source_of(std::shared_ptr<const OpenedWorkload> workload, const SourceOptions& options) {
  auto source = source_at(workload->trace, options);
  if (source) source->workload = std::move(workload);
  return source;
}

namespace {

// What is none of the files that are known is taken for a profile, and what is said of it then is no help to a person
// whose file is called otherwise.
Error named_otherwise(Error of_profile, std::string_view name) {
  // What is said of gzip, of limits and of cancelling is right for every file.
  const bool is_about_profiles = of_profile.remedy.find("pprof profile") != std::string::npos ||
                                 of_profile.remedy.find("jax.profiler") != std::string::npos;
  if (!is_about_profiles) return of_profile;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  const auto error = [&](std::string what, std::string remedy) {
    return Error{std::move(what), std::move(remedy), of_profile.file, {}, false};
  };
  if (name.ends_with(".hbm"))
    return error("this is no recording: one begins with the letters \"hbmscope\"",
                 "Its beginning is damaged, or it is another kind of file; copy it again from where it was made.");
  if (name.ends_with(".pickle") || name.ends_with(".pkl"))
    return error("this is no pickle: one begins with the bytes 80 02 to 80 05",
                 "Give the file that torch.cuda.memory._dump_snapshot() wrote; if it was that, copy it again.");
  if (name.ends_with(".csv"))
    return error("this is no log of RMM: one begins with the line Thread,Time,Action,Pointer,Size,Stream",
                 "Give the file that rmm.enable_logging() wrote.");
  return of_profile;
}

Result<Source> source_of(Result<Trace> trace, const SourceOptions& options) {
  if (!trace) return Failure(std::move(trace.error()));
  add_problem_statistics(*trace);
  return source_at(std::make_shared<const Trace>(std::move(*trace)), options);
}

}  // namespace

Result<Source> read_source(const std::string& file, const SourceOptions& options, ReadControl* control) {
  if (options.what_if.empty())
    if (auto trace = read_in_pieces(file, options, control)) return source_of(std::move(*trace), options);
  auto read = read_file(file, options.max_inflated_bytes, control);
  if (!read) return Failure(std::move(read.error()));
  const Bytes bytes = read->bytes();
  const std::string name = name_of(file);
  const auto workload = read_workload(bytes, name, options, control);
  if (!workload) return Failure(workload.error());
  if (*workload) return source_of(*workload, options);
  if (!options.what_if.empty())
    return Failure(Error{"only a workload file has something to change", "Leave --what-if out.", name, {}, false});
  if (const ReadTrace read_trace = find_trace_reader(bytes))
    return source_of(read_trace(bytes, name, options, control), options);
  ReadOptions pprof;
  pprof.max_inflated_bytes = options.max_inflated_bytes;
  auto profile = read_pprof_bytes(bytes, name, pprof, control);
  if (!profile) return Failure(named_otherwise(std::move(profile.error()), name));
  if (!options.at.empty() && options.at != "end")
    return Failure(Error{"a profile has one moment only", "Leave out --at and --from.", name, {}, false});
  Source source;
  source.profile = std::make_shared<const Profile>(std::move(*profile));
  return source;
}

Result<std::shared_ptr<const Trace>> read_curves(const std::string& file, const SourceOptions& options,
                                                 ReadControl* control) {
  if (auto trace = read_in_pieces(file, options, control)) {
    if (!*trace) return Failure(std::move(trace->error()));
    return std::make_shared<const Trace>(std::move(**trace));
  }
  auto read = read_file(file, options.max_inflated_bytes, control);
  if (!read) return Failure(std::move(read.error()));
  const Bytes bytes = read->bytes();
  const std::string name = name_of(file);
  const auto workload = read_workload(bytes, name, options, control);
  if (!workload) return Failure(workload.error());
  if (*workload) return (*workload)->trace;
  const ReadTrace read_trace = find_trace_reader(bytes);
  if (read_trace == nullptr) return std::shared_ptr<const Trace>();
  auto trace = read_trace == read_recorded_trace
                   ? read_recording_curves(bytes, name, options.max_inflated_bytes, control)
                   : read_trace(bytes, name, options, control);
  if (!trace) return Failure(std::move(trace.error()));
  return std::make_shared<const Trace>(std::move(*trace));
}

}  // namespace hbmscope
