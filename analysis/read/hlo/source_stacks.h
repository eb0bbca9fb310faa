// The stack of a value: the source lines that led to it, outermost first, then the operation, which has no line of its
// own.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "analysis/read/hlo/program.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::hlo {

class SourceStacks {
 public:
  // Both must outlive it.
  SourceStacks(wire::StreamWriter& writer, const SourceFrames& source) : writer_(writer), source_(source) {}

  // `frame` as in SourceFrames. With 0 it is the one line of the operation's metadata, which may be unknown, too.
  std::uint32_t stack_of(std::string_view op_name, std::uint32_t frame, std::string_view file, std::uint32_t line);

 private:
  std::uint32_t stack_of_frame(std::uint32_t innermost);

  wire::StreamWriter& writer_;
  const SourceFrames& source_;
  std::unordered_map<std::uint32_t, std::uint32_t> stacks_;  // By source frame.
};

}  // namespace hbmscope::hlo
