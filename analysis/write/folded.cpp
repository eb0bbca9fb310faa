#include <map>

#include "analysis/write/write.h"

namespace hbmscope {

std::string write_folded(const ProfileView& view) {
  // Sorted by text, as flamegraph.pl and diffs like it.
  std::map<std::string, std::int64_t> stacks;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    const std::vector<FrameIndex> frames = view.visible_stack(sample);
    std::string key;
    for (std::size_t k = frames.size(); k-- > 0;) {
      if (!key.empty()) key += ';';
      // The format has no way to write its own separators.
      for (const char c : view.frames[row(frames[k])].function) key += c == ';' ? ':' : c == '\n' ? ' ' : c;
    }
    if (key.empty()) key = "<no stack>";
    stacks[key] += view.weight(sample).bytes;
  }
  std::string text;
  for (const auto& [key, bytes] : stacks)
    if (bytes != 0) text += key + ' ' + std::to_string(bytes) + '\n';
  return text;
}

}  // namespace hbmscope
