#include <map>

#include "analysis/units/utf8.h"
#include "analysis/write/write.h"

namespace hbmscope {
namespace {

// The format can't escape its own separators.
std::string folded_name(std::string_view function) {
  std::string name = valid_utf8(function);
  for (char& c : name) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return name;
}

}  // namespace

std::string write_folded(const ProfileView& view) {
  std::vector<std::string> names;
  names.reserve(view.frames.size());
  for (const Frame& frame : view.frames) names.push_back(folded_name(frame.function));
  // Sorted by text, as flamegraph.pl and diffs expect.
  std::map<std::string, std::int64_t> stacks;
  std::string key;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    const std::int64_t bytes = view.weight(sample).bytes;
    if (bytes == 0) continue;
    const std::vector<FrameIndex> frames = view.visible_stack(sample);
    key.clear();
    for (std::size_t k = frames.size(); k-- > 0;) {
      if (!key.empty()) key += ';';
      key += names[row(frames[k])];
    }
    stacks[key.empty() ? "<no stack>" : key] += bytes;
  }
  std::string text;
  for (const auto& [stack, bytes] : stacks)
    if (bytes != 0) text += stack + ' ' + std::to_string(bytes) + '\n';
  return text;
}

}  // namespace hbmscope
