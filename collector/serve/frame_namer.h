// Finds the names of functions. Requests are addresses with the module that contains them; names are returned when they
// were found. A thread reads the files, so that the thread that drains rings never waits for a disk. It starts with the
// first request and ends with this object.
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

// A program or library as loaded in a process.
struct CodeModule {
  std::string path, build_id;  // Hexadecimal; empty: it has none.
  std::uint64_t base = 0;
  std::int64_t process = 0;  // In a container the process may see other files than we do.
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

  // `asker`: the number of the stream that gets the answer.
  void ask(std::uint32_t asker, std::uint32_t frame, std::uint64_t address, std::shared_ptr<const CodeModule> module);
  // The names found so far. A frame whose function is in no table gets no answer.
  std::vector<Answer> take_answers(std::uint32_t asker);
  // Whether all requests of the asker were answered and the answers taken.
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
  // Used by the worker thread only. Symbols by path and build id; also by process where processes may see different
  // files (no build id, or no such file); no value if the file can't be read.
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::optional<ElfSymbols>> files_;
  std::uint64_t files_bytes_ = 0;
};

}  // namespace hbmscope::serve
