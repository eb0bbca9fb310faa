// Files that were opened together: those of a folder, or several that were named or dropped at once. Some of them may
// belong together, such as the pieces of one history, which is known only when all are read. Until then they wait here.
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

// What waiting files become, in the order in which they are shown.
struct ArrangedSource {
  Result<SourceContent> content;
  std::vector<std::size_t> files;  // Ascending indices into the waiting files.
};
// Joins what belongs together.
std::vector<ArrangedSource> arrange(const std::vector<ReadFile>& waiting);

class OpenedTogether {
 public:
  struct File {
    std::string path;
    std::shared_ptr<ReadControl> control;
  };
  struct Waiting {
    std::vector<File> files;
    std::vector<ReadFile> read;  // Of each.
  };

  // `folder` if they are all of one folder, otherwise empty.
  explicit OpenedTogether(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  void add(std::string path, std::shared_ptr<ReadControl> control);
  // It is read. True if it waits for the others.
  bool note_read(const std::shared_ptr<ReadControl>& control, const Result<ReadFile>& read);
  void leave_out(const ReadControl* control);  // It was closed.
  // Once all are read: those that wait, the first time that this is called. Otherwise none.
  Waiting take_waiting();

 private:
  struct Member {
    File file;
    bool is_read = false;
    ReadFile waiting;  // Without a source: it does not wait.
  };
  std::string folder_;
  std::vector<Member> members_;  // In the order in which they were opened.
};

}  // namespace hbmscope::gui
