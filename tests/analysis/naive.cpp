#include "tests/analysis/naive.h"

#include <algorithm>
#include <set>

namespace hbmscope {

std::string text_of(const Frame& frame) {
  return frame.function + '|' + frame.file + '|' + std::to_string(frame.line);
}

std::vector<NaiveSample> naive_samples(const ProfileView& view) {
  std::vector<NaiveSample> samples;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    NaiveSample naive{{}, view.weight(sample)};
    for (const FrameIndex frame : view.visible_stack(sample)) naive.stack.push_back(text_of(view.frames[row(frame)]));
    std::reverse(naive.stack.begin(), naive.stack.end());
    samples.push_back(std::move(naive));
  }
  return samples;
}

std::map<std::string, NaiveSums> naive_top(const std::vector<NaiveSample>& samples) {
  std::map<std::string, NaiveSums> top;
  for (const NaiveSample& sample : samples) {
    if (!sample.stack.empty()) top[sample.stack.back()].flat += sample.weight;
    for (const std::string& frame : std::set<std::string>(sample.stack.begin(), sample.stack.end()))
      top[frame].cum += sample.weight;
  }
  return top;
}

std::map<std::vector<std::string>, NaiveSums> naive_tree(const std::vector<NaiveSample>& samples) {
  std::map<std::vector<std::string>, NaiveSums> tree;
  tree[{}];
  for (const NaiveSample& sample : samples) {
    std::vector<std::string> path;
    tree[path].cum += sample.weight;
    for (const std::string& frame : sample.stack) {
      path.push_back(frame);
      tree[path].cum += sample.weight;
    }
    tree[path].flat += sample.weight;
  }
  return tree;
}

}  // namespace hbmscope
