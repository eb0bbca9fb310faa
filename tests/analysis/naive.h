// The slow and obvious versions with which the fast ones are compared: texts and maps, no tricks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope {

// A frame as text, with all its fields.
std::string text_of(const Frame& frame);

struct NaiveSample {
  std::vector<std::string> stack;  // Outermost first.
  Weight weight;
};
// The samples of a view with their visible stacks.
std::vector<NaiveSample> naive_samples(const ProfileView& view);

struct NaiveSums {
  Weight flat, cum;
  friend bool operator==(const NaiveSums&, const NaiveSums&) = default;
};
std::map<std::string, NaiveSums> naive_top(const std::vector<NaiveSample>& samples);

// By path; the root's is empty.
std::map<std::vector<std::string>, NaiveSums> naive_tree(const std::vector<NaiveSample>& samples);

}  // namespace hbmscope
