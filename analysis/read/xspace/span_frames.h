// Turns the names of the spans on a thread's line into stack frames. Python's functions are named
// "$train.py:12 main", without their folder; others are operations of XLA, JAX or TensorFlow.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/wire/stream_writer.h"

namespace hbmscope::xspace {

class SpanFrames {
 public:
  explicit SpanFrames(wire::StreamWriter& writer) : writer_(writer) {}

  // A source file that is surely the user's, because a compiled program names it: "/home/me/train.py". A function in a
  // file of that name is then in this file.
  void add_source_file(std::string_view path);

  std::uint32_t define(std::string_view span);

 private:
  std::string file_of(std::string_view name) const;

  wire::StreamWriter& writer_;
  std::map<std::string, std::string, std::less<>> paths_;  // By file name; an empty path: there are several.
};

// "jit_step" of "CommonPjRtLoadedExecutable::Execute (jit_step)"; empty for other spans.
std::string_view executed_program(std::string_view span);

}  // namespace hbmscope::xspace
