#include "app/gui/sources/read_file.h"

#include "app/gui/sources/accounting.h"

namespace hbmscope::gui {

Result<ReadFile> ReadFile::from(const hbmscope::Source& read) {
  ReadFile file{read.profile, read.trace, nullptr, {}, {}, {}, nullptr, {}};
  const auto view = make_view(file.profile, {});
  if (!view) return Failure(view.error());
  file.summary = std::make_shared<const ProfileSummary>(compute_summary(*view));
  file.accounts = compute_accounts(*view);
  if (!file.trace) return file;
  file.devices = find_device_heaps(*file.trace);
  file.attached = find_attached(*file.trace);
  file.opening_at = opening_moment(*file.trace);
  if (read.workload) file.workload = answer_of(read.workload);
  return file;
}

void ReadFile::fill(Source& source) const {
  source.state = AnswerState::ready;
  source.profile = profile;
  source.trace = trace;
  source.summary = summary;
  source.accounts = accounts;
  source.devices = devices;
  source.attached = attached;
  source.workload.reset();
  if (workload) source.workload = WorkloadPanel{workload, nullptr, std::nullopt};
}

}  // namespace hbmscope::gui
