#include "app/gui/sources/source.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/query/log_headline.h"
#include "analysis/query/program_memory.h"

namespace hbmscope::gui {
namespace {

// The program and its process: "train.py (4711)", "train.py (8 processes)". Empty if the trace does not say.
std::string name_of_job(const Trace& trace) {
  if (trace.streams.empty()) return {};
  const Definitions& definitions = trace.streams.front().definitions();
  const std::string command(definitions.job_fact("command"));
  std::string name;
  // The script rather than its interpreter: the program, or the last word that names a Python file.
  for (std::size_t begin = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find(' ', begin), command.size());
    const std::string word = std::filesystem::path(command.substr(begin, end - begin)).filename().string();
    if (begin == 0 || word.ends_with(".py")) name = word;
    begin = end + 1;
  }
  if (name.empty()) return name;
  std::set<std::string_view> processes;
  for (const Stream& stream : trace.streams) processes.insert(stream.definitions().job_fact("process"));
  return name + " (" +
         (processes.size() == 1 ? std::string(*processes.begin()) : std::to_string(processes.size()) + " processes") +
         ")";
}

}  // namespace

Result<SourceContent> content_of(const hbmscope::Source& read) {
  const auto view = make_view(read.profile, {});
  if (!view) return Failure(view.error());
  SourceContent content;
  content.profile = read.profile;
  content.trace = read.trace;
  content.summary = std::make_shared<const ProfileSummary>(compute_summary(*view));
  content.accounts = compute_accounts(*view);
  if (!read.trace) return content;
  content.devices = find_device_heaps(*read.trace);
  content.programs = find_program_heaps(*read.trace);
  if (const auto program = find_dumped_program(*read.trace)) content.needed_bytes = program->roughly_needed_bytes();
  content.attached = find_attached(*read.trace);
  content.warnings = find_job_warnings(*read.trace);
  content.opening_at = opening_moment(*read.trace);
  if (read.workload) content.workload = WorkloadPanel{answer_of(read.workload), nullptr, std::nullopt};
  return content;
}

namespace {

// `run --emulate v5e:2x4 --record train.hbm` leaves the plans in train.programs.
std::string find_plans_folder(const std::string& recording) {
  std::filesystem::path folder = recording;
  if (folder.extension() != ".hbm") return {};
  std::error_code error;
  folder.replace_extension(".programs");
  return std::filesystem::is_directory(folder, error) ? folder.string() : std::string();
}

}  // namespace

void Source::take(SourceContent content) {
  static_cast<SourceContent&>(*this) = std::move(content);
  if (state == AnswerState::pending) plans_folder = find_plans_folder(path);
  state = AnswerState::ready;
}

std::string Source::name() const {
  if (!title.empty()) return title;
  if (trace && (path.starts_with("live:") || path.starts_with("tcp:")))
    if (std::string job = name_of_job(*trace); !job.empty()) return job;
  std::error_code error;
  if (is_joined && !folder.empty()) {
    const std::filesystem::path whole = std::filesystem::weakly_canonical(folder, error);
    return (error ? std::filesystem::path(folder) : whole).filename().string();
  }
  const std::string last = std::filesystem::path(path).filename().string();
  // The changes that are shown. The requested ones may still be running, or may be impossible.
  const std::vector<WorkloadChange>& changes = workload ? workload->answer->opened->changes : what_if;
  return (last.empty() ? path : last) +
         (pieces.empty() ? std::string() : " and " + std::to_string(pieces.size() - 1) + " more") +
         (changes.empty() ? std::string() : " (" + text_from_changes(changes) + ")");
}

std::vector<std::string> Source::files() const {
  return pieces.empty() ? std::vector<std::string>{path} : pieces;
}

std::string Source::files_text() const {
  std::string text;
  for (const std::string& file : files()) text += (text.empty() ? "" : "\n") + file;
  return text;
}

bool is_followed_log(const Source& source) {
  if (source.is_pasted || source.control || !source.pieces.empty() || source.path == "-") return false;
  if (source.state == AnswerState::ready) return source.trace && is_of_log(*source.trace);
  const std::string ending = std::filesystem::path(source.path).extension().string();
  return source.state == AnswerState::failed &&
         (ending == ".log" || ending == ".txt" || ending == ".out" || ending == ".err");
}

void cancel_emulating(const Source& source) {
  if (source.workload && source.workload->emulating) source.workload->emulating->cancelled = true;
}

}  // namespace hbmscope::gui
