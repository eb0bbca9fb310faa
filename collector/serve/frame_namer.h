// Finds out what functions addresses of code are in: addresses come with the module that they lie in, names come back
// when they were found. Files are read by a thread of its own, so that whoever drains rings never waits for a disk. Its
// thread begins with the first question and ends with it.
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

namespace hbmscope::serve {

// A program or library as a process has it.
struct CodeModule {
  std::string path, build_id;  // Hexadecimal; empty: it has none.
  std::uint64_t base = 0;
  std::int64_t process = 0;  // Which may see other files than we do, in a container.
  std::uint32_t id = 0;      // In its stream.
};

class FrameNamer {
 public:
  struct Answer {
    std::uint32_t frame = 0;
    std::string function, file;  // The file is the module's.
  };

  FrameNamer() = default;
  ~FrameNamer();
  FrameNamer(const FrameNamer&) = delete;
  FrameNamer& operator=(const FrameNamer&) = delete;

  // `asker`: who gets the answer; a stream's number.
  void ask(std::uint32_t asker, std::uint32_t frame, std::uint64_t address, std::shared_ptr<const CodeModule> module);
  // What is known by now. A frame whose function no table names is in no answer.
  std::vector<Answer> take_answers(std::uint32_t asker);
  // Whether all that the asker has asked was answered, and taken.
  bool is_done(std::uint32_t asker) const;

 private:
  struct Question {
    std::uint32_t asker = 0, frame = 0;
    std::uint64_t address = 0;
    std::shared_ptr<const CodeModule> module;
  };
  struct Asker {
    std::uint64_t open = 0;  // Questions.
    std::vector<Answer> answers;
  };
  void work();
  const ElfSymbols* symbols_of(const CodeModule& module);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Question> questions_;
  std::unordered_map<std::uint32_t, Asker> askers_;
  bool is_over_ = false;
  std::thread worker_;
  // The worker's own: by path, build id, and where one process may see another file than the next (no build id, or no
  // such file) by process; nothing where the file can't be read.
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::optional<ElfSymbols>> files_;
  std::uint64_t files_bytes_ = 0;
};

}  // namespace hbmscope::serve
