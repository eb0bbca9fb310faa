// Files that were opened together: those of a folder, or several that were named or dropped at once. Some of them may
// belong together, such as the pieces of one history, which is known only when all are read; and the compiled programs
// of a folder are sorted by what they need. Until all are read, such files wait here.
// Only the window's thread uses it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/read/source/read_source.h"
#include "app/gui/sources/source.h"

namespace hbmscope::gui {

struct ReadFile {
  std::shared_ptr<const hbmscope::Source> source;
  SourceContent content;
};
Result<ReadFile> content_of_file(Result<hbmscope::Source> read);

struct WaitingFiles {
  struct File {
    std::string path;
    std::shared_ptr<ReadControl> control;
  };
  std::vector<File> files;
  std::vector<ReadFile> read;  // What each file has.
  bool is_sorted = false;      // They are the programs of a folder, which has nothing else.
  bool is_one_job = false;     // All of them become one source.
};
// What waiting files become, in the order in which they are shown.
struct ArrangedSource {
  Result<SourceContent> content;
  std::vector<std::size_t> files;  // Ascending indices into the waiting files.
};
// Joins what belongs together, or sorts programs, the one that needs the most first.
std::vector<ArrangedSource> arrange(const WaitingFiles& waiting);

// Files of one job as one trace (join_pieces, join_sources). Errors: none of them is a trace, or one can't be joined.
Result<hbmscope::Source> join_job(std::vector<hbmscope::Source> files);

class OpenedTogether {
 public:
  // `folder` if they are all of one folder, otherwise empty. `is_one_job`: they become one source, whatever they are.
  explicit OpenedTogether(std::string folder, bool is_one_job = false)
      : folder_(std::move(folder)), is_one_job_(is_one_job), has_only_programs_(!folder_.empty() && !is_one_job) {}

  const std::string& folder() const { return folder_; }
  bool is_one_job() const { return is_one_job_; }
  void add(std::string path, std::shared_ptr<ReadControl> control);
  // It is read. True if it waits for the others.
  bool note_read(const std::shared_ptr<ReadControl>& control, const Result<ReadFile>& read);
  void leave_out(const ReadControl* control);  // It was closed.
  // Those that need not wait any longer: all once all are read; before, programs that turn out not to be alone in their
  // folder.
  WaitingFiles take_waiting();

 private:
  struct Member {
    WaitingFiles::File file;
    bool is_read = false;
    ReadFile waiting;  // Without a source: it does not wait.
  };
  std::string folder_;
  bool is_one_job_;
  bool has_only_programs_;       // As far as they are read.
  std::vector<Member> members_;  // In the order in which they were opened.
};

}  // namespace hbmscope::gui
