#include "analysis/query/visible_frames.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

// Innermost first, as "a b c". Functions of the trace's stack, outermost first; one that begins with '_' has no file.
std::string visible(const std::string& drop_frames, const std::vector<std::string>& functions) {
  TraceBuilder built;
  built.trace.drop_frames = drop_frames;
  std::uint32_t stack = 0;
  for (const std::string& function : functions)
    stack = built.writer.define_stack(stack,
                                      built.writer.define_frame(function, function[0] == '_' ? "??" : "/home/a.py", 1));
  built.writer.flush();
  const Definitions& definitions = built.trace.streams.front().definitions();
  std::string text;
  for (const TraceFrame& frame : VisibleFrames(built.trace).of(definitions, stack))
    text += (text.empty() ? "" : " ") + std::string(definitions.text(frame.function));
  return text;
}

TEST(VisibleFrames, are_without_the_interpreters_own_and_what_the_trace_drops) {
  EXPECT_EQ(visible("", {"_start", "main", "_PyEval_EvalFrameDefault", "step"}), "step main");
  EXPECT_EQ(visible("take.*|record", {"main", "step", "take(int)", "inside", "record"}), "step main");
  EXPECT_EQ(visible("take", {"main", "take", "call", "take", "record"}), "main") << "from the outermost one inwards";
}

TEST(VisibleFrames, the_outermost_is_not_dropped_before_somebody_called) {
  EXPECT_EQ(visible("take", {"take", "main", "step"}), "step main take");
  EXPECT_EQ(visible("take", {"take", "main", "take"}), "main take");
}

TEST(VisibleFrames, where_none_is_left_all_are) {
  EXPECT_EQ(visible("", {"_start", "_PyEval_EvalCode"}), "_PyEval_EvalCode _start");
  EXPECT_EQ(visible("(", {"main"}), "main") << "no expression";
  EXPECT_EQ(visible("", {}), "");
}

}  // namespace
}  // namespace hbmscope
