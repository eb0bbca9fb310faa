#include "app/gui/core/attached_jobs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/gui/core/apply_commands.h"

namespace hbmscope::gui {
namespace {

constexpr const char* seconds_between_lists = "1";

std::string name_of_observer(std::int64_t observer) {
  return "live:" + std::to_string(observer);
}

// Strips the program name from the message of a command.
std::string without_name(std::string text) {
  constexpr std::string_view program = "hbmscope: ";
  if (text.starts_with(program)) text.erase(0, program.size());
  return text;
}

}  // namespace

AttachedJobs::AttachedJobs(AppState& state, OpenSources& sources, WorkerPool& pool)
    : state_(state), sources_(sources), pool_(pool) {}

void AttachedJobs::stop() {
  job_list_.reset();
  attached_.clear();
}

// The list is on the first page or in a separate window.
void AttachedJobs::watch() {
  const bool is_wanted = state_.jobs.is_open || (lists_on_first_page && state_.sources.empty());
  if (!is_wanted) job_list_.reset();
  if (!is_wanted || job_list_ != nullptr) return;
  const std::string host = state_.jobs.host;
  std::vector<std::string> words{"ps", "--json", "--every", seconds_between_lists};
  if (!host.empty()) words.insert(words.begin() + 1, {"--on", host});
  if (state_.jobs.is_copying) words.emplace_back("--yes");
  job_list_ = view::CommandLines::start(
      words,
      [this, host, last = std::make_shared<std::string>()](const std::string& line) {
        if (line == *last) return;  // An idle machine draws nothing.
        *last = line;
        auto listing = std::make_shared<const Result<JobListing>>(job_listing_from(line));
        pool_.post([this, listing, host]() -> WorkerPool::Finish {
          return [this, listing, host] {
            if (host != state_.jobs.host) return;
            state_.jobs.wrong = *listing ? "" : without_name(listing->error().what);
            if (*listing) state_.jobs.listing = **listing;
            state_.jobs.is_copying = false;
          };
        });
      },
      state_.jobs.wrong);
}

void AttachedJobs::list_host(const std::string& host, bool is_copying) {
  job_list_.reset();
  JobsState& jobs = state_.jobs;
  if (host != jobs.host) jobs.listing.reset();
  jobs.host = host;
  jobs.wrong.clear();
  jobs.is_copying = is_copying;
  jobs.is_asking = false;
  jobs.chosen = 0;
}

// The recording is kept after detaching; it holds what was observed.
void AttachedJobs::attach_to(std::int64_t process, Attaching how) {
  std::error_code error;
  const std::filesystem::path folder = state_folder() / "recordings";
  std::filesystem::create_directories(folder, error);
  const std::string host = state_.jobs.host;
  std::string recording;
  for (int number = 1; number == 1 || std::filesystem::exists(recording, error); ++number)
    recording = (folder / fmt::format("attached-{}-{}.hbm", process, number)).string();
  auto said = std::make_shared<Said>();
  std::string wrong;
  std::vector<std::string> words{"attach", std::to_string(process), "--no-window", "--record", recording};
  if (how == Attaching::totals_only)
    words.emplace_back("--totals");
  else if (state_.jobs.leaves_cupti)
    words.emplace_back("--no-cupti");
  if (how == Attaching::to_all) words.emplace_back("--all");
  if (!host.empty()) words.insert(words.begin() + 1, {"--on", host});
  auto command = view::CommandLines::start(
      words,
      [said](const std::string& line) {
        const std::lock_guard lock(said->mutex);
        said->text += (said->text.empty() ? "" : "\n") + line;
      },
      wrong);
  if (command == nullptr) {
    state_.window.notice = "Can't attach: " + wrong + ".";
    return;
  }
  // On another machine the observer has another process id, so we name it by the job's id.
  const std::string name = host.empty() ? name_of_observer(command->pid()) : fmt::format("live:{}:{}", host, process);
  attached_.push_back({name, std::move(command), std::move(said)});
  sources_.open_file(name, OpenSources::As::source);
}

// The command's message if it found nothing to show.
std::optional<Error> AttachedJobs::attach_error(const std::string& name) {
  const auto found =
      std::find_if(attached_.begin(), attached_.end(), [&](const Attached& one) { return one.name == name; });
  if (found == attached_.end()) return std::nullopt;
  const std::lock_guard lock(found->said->mutex);
  const std::string text = without_name(found->said->text);
  return Error{text.empty() ? "it sent nothing" : text, {}, {}, std::nullopt, false};
}

namespace apply {

// One line each, as in a table.
// clang-format off
void show_jobs(AppParts& parts) {
  JobsState& jobs = parts.state.jobs;
  jobs.is_open = !jobs.is_open;
  jobs.is_asking = false;
}
void list_host(AppParts& parts, const std::string& host) { parts.jobs.list_host(host, false); }
void copy_to_host(AppParts& parts) { parts.jobs.list_host(parts.state.jobs.host, true); }
void set_job_filter(AppParts& parts, const std::string& filter) {
  JobsState& jobs = parts.state.jobs;
  jobs.filter = filter;
  jobs.chosen = 0;
  jobs.is_asking = false;
}
void choose_job(AppParts& parts, const ProcessNumber& process) {
  parts.state.jobs.chosen = process.value;
  parts.state.jobs.is_asking = false;
}
void ask_to_attach(AppParts& parts, const ProcessNumber& process) {
  parts.state.jobs.chosen = process.value;
  parts.state.jobs.is_asking = true;
}
void leave_cupti(AppParts& parts) { parts.state.jobs.leaves_cupti = !parts.state.jobs.leaves_cupti; }
void attach_to(AppParts& parts, const ProcessNumber& process) {
  parts.state.jobs.is_open = parts.state.jobs.is_asking = false;
  parts.jobs.attach_to(process.value, AttachedJobs::Attaching::to_one);
}
void attach_to_all(AppParts& parts, const ProcessNumber& process) {
  parts.state.jobs.is_open = parts.state.jobs.is_asking = false;
  parts.jobs.attach_to(process.value, AttachedJobs::Attaching::to_all);
}
void attach_totals(AppParts& parts, const ProcessNumber& process) {
  parts.state.jobs.is_open = parts.state.jobs.is_asking = false;
  parts.jobs.attach_to(process.value, AttachedJobs::Attaching::totals_only);
}
void stop_recording(AppParts& parts) { parts.sources.ask_observer(link::RequestKind::stop_recording); }
void skip_to_now(AppParts& parts) { parts.sources.ask_observer(link::RequestKind::skip_to_now); }
void detach(AppParts& parts) { parts.sources.ask_observer(link::RequestKind::detach); }
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
