#include "analysis/query/user_code.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/query/interpreter_frame.h"
#include "analysis/query/own_file.h"

namespace hbmscope {
namespace {

// What identifies the owner of a stack: the innermost line of the user's program (own_file.h), and the outermost
// function of other files below it.
struct Owner {
  const Line* line = nullptr;  // Null: library code only.
  FunctionIndex through = FunctionIndex::none;
};

class OwnerFinder {
 public:
  explicit OwnerFinder(const ProfileView& view) : view_(view) {
    std::unordered_map<std::size_t, FileOwner> owners;  // By file: thousands of functions share each.
    for (const Function& function : view.profile->functions) {
      const auto [owner, is_new] = owners.try_emplace(row(function.file), FileOwner::library);
      if (is_new) owner->second = owner_of_file(view.profile->text(function.file));
      owners_.push_back(owner->second);
      const std::string_view name = view.profile->text(function.name), file = view.profile->text(function.file);
      is_wrapper_.push_back(owner->second == FileOwner::library &&
                            (is_wrapper(file) || is_interpreter_frame(name, file)));
    }
  }

  Owner find(std::uint32_t sample) const {
    Owner code;
    FunctionIndex through = FunctionIndex::none;
    for (const LocationIndex location : view_.stack(sample)) {
      for (const Line& line : view_.lines(location)) {
        if (line.function == FunctionIndex::none) continue;
        const FileOwner owner = owners_[row(line.function)];
        if (owner == FileOwner::program) return {&line, through};
        if (owner == FileOwner::code && code.line == nullptr) code = {&line, through};
        if (!is_wrapper_[row(line.function)]) through = line.function;
      }
    }
    return code;
  }

 private:
  // JAX wraps its public functions to shorten tracebacks; the wrapper is in every stack and carries no information.
  static bool is_wrapper(std::string_view file) {
    return file.ends_with("jax/_src/traceback_util.py") || file.ends_with("/contextlib.py");
  }

  const ProfileView& view_;
  std::vector<FileOwner> owners_;  // By function.
  std::vector<bool> is_wrapper_;
};

}  // namespace

std::vector<UserCodeRow> compute_user_code(const ProfileView& view) {
  const Profile& profile = *view.profile;
  const OwnerFinder finder(view);
  std::unordered_map<std::uint64_t, Weight> by_numbers;  // By the numbers of line and function.
  Weight library_only, no_stack;
  bool has_library_only = false, has_no_stack = false;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    const Owner owner = finder.find(sample);
    if (owner.line == nullptr) {
      const bool has_stack = !view.stack(sample).empty();
      (has_stack ? library_only : no_stack) += view.weight(sample);
      (has_stack ? has_library_only : has_no_stack) = true;
      continue;
    }
    const auto line = static_cast<std::uint64_t>(owner.line - profile.lines.data());
    by_numbers[line << 32 | static_cast<std::uint32_t>(owner.through)] += view.weight(sample);
  }
  // Then by text, because several functions and locations may look the same: a closure has many code objects, and a
  // line has a location for each call in it.
  using Key = std::tuple<StringId, StringId, std::int64_t, StringId>;
  std::map<Key, Weight> by_text;
  for (const auto& [numbers, weight] : by_numbers) {
    const Line& line = profile.lines[numbers >> 32];
    const Function& function = profile.functions[row(line.function)];
    const auto through = static_cast<FunctionIndex>(numbers & 0xffffffff);
    const StringId through_name =
        through == FunctionIndex::none ? StringId::empty : profile.functions[row(through)].name;
    by_text[{function.name, function.file, line.line, through_name}] += weight;
  }
  std::vector<UserCodeRow> rows;
  for (const auto& [key, weight] : by_text) {
    const auto& [name, file, line, through] = key;
    UserCodeRow& own = rows.emplace_back();
    own.frame.function = name == StringId::empty ? "<no name>" : profile.text(name);
    own.frame.file = profile.text(file);
    own.frame.line = line;
    own.through = profile.text(through);
    own.weight = weight;
  }
  std::sort(rows.begin(), rows.end(), [](const UserCodeRow& a, const UserCodeRow& b) {
    if (a.weight.bytes != b.weight.bytes) return a.weight.bytes > b.weight.bytes;
    if (a.weight.count != b.weight.count) return a.weight.count > b.weight.count;
    return std::tie(a.frame.file, a.frame.line, a.frame.function, a.through) <
           std::tie(b.frame.file, b.frame.line, b.frame.function, b.through);
  });
  if (has_library_only) rows.push_back({{}, {}, library_only, true});
  if (has_no_stack) rows.push_back({{}, {}, no_stack, false});
  return rows;
}

}  // namespace hbmscope
