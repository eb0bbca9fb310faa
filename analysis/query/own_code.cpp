#include "analysis/query/own_code.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace hbmscope {
namespace {

// What decides about a stack: the innermost own line, and the outermost library function below it.
struct Owner {
  FunctionIndex function = FunctionIndex::none;
  std::int64_t line = 0;
  FunctionIndex through = FunctionIndex::none;
};

class OwnerFinder {
 public:
  explicit OwnerFinder(const ProfileView& view) : view_(view), profile_(*view.profile) {
    for (const Function& function : profile_.functions)
      is_library_.push_back(is_library_file(profile_.text(function.file)));
  }

  Owner find(std::uint32_t sample) const {
    Owner owner;
    for (const LocationIndex location : view_.stack(sample)) {
      for (const Line& line : view_.lines(location)) {
        if (line.function == FunctionIndex::none) continue;
        if (is_library_[row(line.function)]) {
          owner.through = line.function;
          continue;
        }
        owner.function = line.function;
        owner.line = line.line;
        return owner;
      }
    }
    return {};
  }

 private:
  const ProfileView& view_;
  const Profile& profile_;
  std::vector<bool> is_library_;
};

}  // namespace

std::vector<OwnCodeRow> compute_own_code(const ProfileView& view) {
  const Profile& profile = *view.profile;
  const OwnerFinder finder(view);
  // By text numbers, not by function: one function of the file is one code object, and a closure is made often.
  using Key = std::tuple<StringId, StringId, std::int64_t, StringId>;
  std::map<Key, Weight> sums;
  Weight without;
  bool has_without = false;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    const Owner owner = finder.find(sample);
    if (owner.function == FunctionIndex::none) {
      without += view.weight(sample);
      has_without = true;
      continue;
    }
    const Function& function = profile.functions[row(owner.function)];
    const StringId through =
        owner.through == FunctionIndex::none ? StringId::empty : profile.functions[row(owner.through)].name;
    sums[{function.name, function.file, owner.line, through}] += view.weight(sample);
  }
  std::vector<OwnCodeRow> rows;
  for (const auto& [key, weight] : sums) {
    const auto& [name, file, line, through] = key;
    rows.push_back({{std::string(profile.text(name)), std::string(profile.text(file)), line, false},
                    std::string(profile.text(through)),
                    weight});
    if (rows.back().frame.function.empty()) rows.back().frame.function = "<no name>";
  }
  std::sort(rows.begin(), rows.end(), [](const OwnCodeRow& a, const OwnCodeRow& b) {
    if (a.weight.bytes != b.weight.bytes) return a.weight.bytes > b.weight.bytes;
    if (a.weight.count != b.weight.count) return a.weight.count > b.weight.count;
    return std::tie(a.frame.file, a.frame.line, a.frame.function, a.through) <
           std::tie(b.frame.file, b.frame.line, b.frame.function, b.through);
  });
  if (has_without) rows.push_back({{}, {}, without});
  return rows;
}

}  // namespace hbmscope
