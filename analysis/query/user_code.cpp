#include "analysis/query/user_code.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/query/interpreter_frame.h"
#include "analysis/query/own_frame.h"

namespace hbmscope {
namespace {

using Place = UserCodeRow::Place;

// What identifies the owner of a stack: the innermost line of the user's program (own_frame.h), and the outermost
// function of other files below it.
struct Owner {
  const Line* line = nullptr;
  FunctionIndex through = FunctionIndex::none;
  Place place = Place::line;  // Otherwise there is no line.
};

class OwnerFinder {
 public:
  explicit OwnerFinder(const ProfileView& view) : view_(view) {
    std::unordered_map<std::size_t, FileOwner> owners;  // By file: thousands of functions share each.
    for (const Function& function : view.profile->functions) {
      const std::string_view name = view.profile->text(function.name), file = view.profile->text(function.file);
      const auto [of_file, is_new] = owners.try_emplace(row(function.file), FileOwner::library);
      if (is_new) of_file->second = owner_of_file(file);
      owners_.push_back(owner_of_frame(of_file->second, name, file));
      is_wrapper_.push_back(owners_.back() == FileOwner::library &&
                            (is_wrapper(file) || is_interpreter_frame(name, file) || is_module_call(name, file)));
      is_autograd_thread_.push_back(is_autograd_thread_frame(name));
      has_file_.push_back(file != unknown_file);
    }
  }

  Owner find(std::uint32_t sample) const {
    Owner code{nullptr, FunctionIndex::none, has_file(sample) ? Place::library_only : Place::no_stack};
    FunctionIndex through = FunctionIndex::none;
    for (const LocationIndex location : view_.stack(sample)) {
      for (const Line& line : view_.lines(location)) {
        if (line.function == FunctionIndex::none) continue;
        const FileOwner owner = owners_[row(line.function)];
        if (owner == FileOwner::program) return {&line, through};
        if (owner == FileOwner::code && code.line == nullptr) code = {&line, through};
        if (is_autograd_thread_[row(line.function)] && code.line == nullptr) code.place = Place::autograd_thread;
        if (!is_wrapper_[row(line.function)]) through = line.function;
      }
    }
    return code;
  }

 private:
  // False: no stack was recorded. Addresses without a function are code of some library.
  bool has_file(std::uint32_t sample) const {
    const auto stack = view_.stack(sample);
    return std::any_of(stack.begin(), stack.end(), [&](LocationIndex location) {
      const auto lines = view_.lines(location);
      return lines.empty() || std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
               return line.function == FunctionIndex::none || has_file_[row(line.function)];
             });
    });
  }

  // JAX wraps its public functions to shorten tracebacks; the wrapper is in every stack and carries no information.
  static bool is_wrapper(std::string_view file) {
    return file.ends_with("jax/_src/traceback_util.py") || file.ends_with("/contextlib.py");
  }

  const ProfileView& view_;
  std::vector<FileOwner> owners_;  // By function.
  std::vector<bool> is_wrapper_, is_autograd_thread_, has_file_;
};

// "normal, full and 3 more", those with most bytes first.
std::string text_from_called(const Profile& profile, const std::map<StringId, std::int64_t>& called, bool is_python) {
  constexpr std::size_t named_max = 2;
  std::vector<std::pair<std::int64_t, std::string>> names;
  for (const auto& [id, bytes] : called) {
    std::string name(profile.text(id));
    const bool is_native = name.find('*') != std::string::npos || name.find("::") != std::string::npos;
    if (!name.empty() && (!is_python || !is_native)) names.emplace_back(bytes, std::move(name));
  }
  std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), named_max); ++i) text += (i == 0 ? "" : ", ") + names[i].second;
  return names.size() > named_max ? text + " and " + std::to_string(names.size() - named_max) + " more" : text;
}

}  // namespace

std::vector<UserCodeRow> compute_user_code(const ProfileView& view) {
  const Profile& profile = *view.profile;
  const OwnerFinder finder(view);
  std::unordered_map<std::uint64_t, Weight> by_numbers;  // By the numbers of line and function.
  struct Sum {
    Weight weight;
    bool is_used = false;
  };
  std::array<Sum, 4> by_place;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    const Owner owner = finder.find(sample);
    if (owner.line == nullptr) {
      Sum& sum = by_place[static_cast<std::size_t>(owner.place)];
      sum.weight += view.weight(sample);
      sum.is_used = true;
      continue;
    }
    const auto line = static_cast<std::uint64_t>(owner.line - profile.lines.data());
    by_numbers[line << 32 | static_cast<std::uint32_t>(owner.through)] += view.weight(sample);
  }
  // Then by text, because several functions and locations may look the same: a closure has many code objects, and a
  // line has a location for each call in it.
  using Key = std::tuple<StringId, StringId, std::int64_t>;
  struct Held {
    Weight weight;
    std::map<StringId, std::int64_t> through;  // Bytes.
  };
  std::map<Key, Held> by_text;
  for (const auto& [numbers, weight] : by_numbers) {
    const Line& line = profile.lines[numbers >> 32];
    const Function& function = profile.functions[row(line.function)];
    const auto through = static_cast<FunctionIndex>(numbers & 0xffffffff);
    const StringId through_name =
        through == FunctionIndex::none ? StringId::empty : profile.functions[row(through)].name;
    Held& held = by_text[{function.name, function.file, line.line}];
    held.weight += weight;
    held.through[through_name] += weight.bytes;
  }
  std::vector<UserCodeRow> rows;
  const auto add_place = [&](Place place) {
    const Sum& sum = by_place[static_cast<std::size_t>(place)];
    if (sum.is_used) rows.push_back({{}, {}, sum.weight, place});
  };
  add_place(Place::autograd_thread);
  for (const auto& [key, held] : by_text) {
    const auto& [name, file, line] = key;
    UserCodeRow& own = rows.emplace_back();
    own.frame.function = name == StringId::empty ? "<no name>" : profile.text(name);
    own.frame.file = profile.text(file);
    own.frame.line = line;
    own.through = text_from_called(profile, held.through, own.frame.file.ends_with(".py"));
    own.weight = held.weight;
  }
  std::sort(rows.begin(), rows.end(), [](const UserCodeRow& a, const UserCodeRow& b) {
    if (a.weight.bytes != b.weight.bytes) return a.weight.bytes > b.weight.bytes;
    if (a.weight.count != b.weight.count) return a.weight.count > b.weight.count;
    return std::tie(a.frame.file, a.frame.line, a.frame.function, a.through) <
           std::tie(b.frame.file, b.frame.line, b.frame.function, b.through);
  });
  add_place(Place::library_only);
  add_place(Place::no_stack);
  return rows;
}

std::string_view UserCodeRow::label() const {
  switch (place) {
    case Place::autograd_thread: return autograd_thread_label;
    case Place::no_stack: return no_stack_label;
    case Place::library_only:
    case Place::line: break;
  }
  return library_only_label;
}

}  // namespace hbmscope
