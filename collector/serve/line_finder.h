// The source lines of addresses, from the debugging information of files. A program of its own reads it
// (collector/source_lines): a damaged file may crash it or keep it busy, and costs only the lines of that file. Without
// that program no line is found. For one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/serve/helper_program.h"
#include "collector/serve/regular_file.h"

namespace hbmscope::serve {

struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
};

class LineFinder {
 public:
  LineFinder();

  // Returns the number of a file that will be asked about. The program gets it now; it is opened by its path only if
  // the program must be started again.
  std::uint32_t add_file(const std::string& path, const RegularFile& file);
  // `address`: the file's own, without the base at which it is loaded. Blocks for some seconds at most.
  std::optional<SourceLine> find(std::uint32_t file, std::uint64_t address);
  // From any thread: find() returns soon, and finds nothing from now on.
  void cancel() { is_cancelled_ = true; }

 private:
  struct File {
    std::string path;
    std::uint32_t sent_in = 0;  // The start of the program after which it was sent, or 0 if it never was.
    bool is_bad = false;        // The program ended, or did not answer, because of it.
    std::unordered_map<std::uint64_t, std::optional<SourceLine>> known;
  };
  bool wait_for_reply() const;
  bool start();
  bool send(File& file, std::uint32_t number, const RegularFile& opened);
  std::optional<SourceLine> ask(File& file, std::uint32_t number, std::uint64_t address);

  HelperProgram program_;
  std::atomic<bool> is_cancelled_{false};
  std::uint32_t starts_ = 0, vain_starts_ = 0;
  std::vector<File> files_;
};

}  // namespace hbmscope::serve
