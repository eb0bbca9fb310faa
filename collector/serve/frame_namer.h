// Finds the names of functions, and their source lines. Requests are addresses with the module that contains them;
// names are returned when they were found. A thread reads the files, so that the thread that drains rings never waits
// for a disk. It starts with the first request and ends with this object.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/serve/elf_symbols.h"
#include "collector/serve/line_finder.h"
#include "collector/serve/perf_map.h"
#include "collector/serve/regular_file.h"

namespace hbmscope::serve {

// The files of a program or library that a process has loaded: its symbol table, and where its debugging information
// is.

// A program or library as loaded in a process.
struct CodeModule {
  std::string path, build_id;  // The build id is hexadecimal, and empty if there is none.
  std::uint64_t base = 0;
  std::int64_t process = 0;  // In a container the process may see other files than we do.
  std::uint32_t id = 0;      // In its stream.
};

struct ModuleFiles {
  std::optional<ElfSymbols> symbols;  // No value if no file can be read.
  // The one with debugging information, if there is one. It is open, because the process through which it is seen
  // (/proc/PID/root) may end.
  std::string debug_path;
  std::optional<RegularFile> debug_file;
};

// Where files with debugging information are kept apart from programs and libraries, separated by colons. By default
// /usr/lib/debug.
constexpr const char* debug_folder_variable = "HBMSCOPE_DEBUG_FOLDER";

// Each file is looked for as the process sees it, while it lives, and then as we see it. Without a build id only the
// process' own view is certain; with one, every file must have the same.
ModuleFiles read_module_files(const CodeModule& module);

class FrameNamer {
 public:
  struct Answer {
    std::uint32_t frame = 0;
    std::string function, file;  // The file is the module's if the line is unknown.
    std::uint32_t line = 0;      // 0: unknown.
  };

  FrameNamer() = default;
  ~FrameNamer();
  FrameNamer(const FrameNamer&) = delete;
  FrameNamer& operator=(const FrameNamer&) = delete;

  // `asker`: the number of the stream that gets the answer.
  void ask(std::uint32_t asker, std::uint32_t frame, std::uint64_t address, std::shared_ptr<const CodeModule> module);
  // The same for code outside of every module.
  void ask(std::uint32_t asker, std::uint32_t frame, std::uint64_t address, std::shared_ptr<PerfMap> map);
  // The names found so far. A frame whose function is in no table gets no answer; one of a file with debugging
  // information may get another with its line, later, because lines take longer and no name should wait for them.
  std::vector<Answer> take_answers(std::uint32_t asker);
  // Whether all requests of the asker were answered and the answers taken.
  bool is_done(std::uint32_t asker) const;

 private:
  struct Question {
    std::uint32_t asker = 0, frame = 0;
    std::uint64_t address = 0;
    std::shared_ptr<const CodeModule> module;  // One of these two.
    std::shared_ptr<PerfMap> map;
  };
  struct Asker {
    std::uint64_t open = 0;  // Questions.
    std::vector<Answer> answers;
  };
  struct Files {
    std::optional<ElfSymbols> symbols;        // No value if the file can't be read.
    std::optional<std::uint32_t> debug_file;  // Its number for LineFinder; no value: it has none.
  };
  // A frame that has its name and may get a line.
  struct Unlined {
    std::uint32_t asker = 0;
    Answer answer;
    std::uint64_t address = 0;  // The file's own.
    std::uint32_t debug_file = 0;
  };
  void add(Question question);
  void work();
  Answer find_name(const Question& question);
  Answer find_line(const Unlined& one);
  const Files& files_of(const CodeModule& module);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Question> questions_;
  std::unordered_map<std::uint32_t, Asker> askers_;
  bool is_over_ = false;
  std::thread worker_;
  LineFinder lines_;
  // Used by the worker thread only. Files by path and build id; also by process where processes may see different files
  // (no build id, or no such file).
  std::map<std::tuple<std::string, std::string, std::int64_t>, Files> files_;
  std::uint64_t files_bytes_ = 0;
  std::deque<Unlined> unlined_;
};

}  // namespace hbmscope::serve
