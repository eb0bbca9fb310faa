#include "analysis/read/hlo/source_stacks.h"

#include <string>
#include <vector>

#include "analysis/read/op_name_stack.h"

namespace hbmscope::hlo {

std::uint32_t SourceStacks::stack_of(std::string_view op_name, std::uint32_t frame, std::string_view file,
                                     std::uint32_t line) {
  const std::uint32_t lines = stack_of_frame(frame);
  return lines == 0 ? define_op_name_stack(writer_, op_name, file, line)
                    : define_op_name_stack(writer_, op_name, {}, 0, lines);
}

std::uint32_t SourceStacks::stack_of_frame(std::uint32_t innermost) {
  constexpr std::size_t depth_max = 256;  // The chain may be a cycle.
  std::vector<std::uint32_t> frames;      // Frames without a stack so far, innermost first.
  std::uint32_t frame = innermost, stack = 0;
  while (frame > 0 && frame <= source_.frames.size() && frames.size() < depth_max) {
    if (const auto known = stacks_.find(frame); known != stacks_.end()) {
      stack = known->second;
      break;
    }
    frames.push_back(frame);
    frame = source_.frames[frame - 1].caller;
  }
  for (; !frames.empty(); frames.pop_back()) {
    const SourceFrame& one = source_.frames[frames.back() - 1];
    const auto text = [](const std::vector<std::string>& texts, std::uint32_t number) {
      return number > 0 && number <= texts.size() ? std::string_view(texts[number - 1]) : std::string_view();
    };
    stack = writer_.define_stack(
        stack, writer_.define_frame(text(source_.functions, one.function), text(source_.files, one.file), one.line));
    stacks_[frames.back()] = stack;
  }
  return stack;
}

}  // namespace hbmscope::hlo
