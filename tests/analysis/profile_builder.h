// Tiny profiles for tests, a stack a line, outermost frame first, as in folded stacks:
//
//   ProfileBuilder().sample("main;train;adam", 4096).sample("main;load@data.py:12", 512, 2, {{"device", "TPU_0"}})
//
// A frame is a function, with @file:line where it matters; without, the file is the function's name and ".py", line 1.
// Frames of one inlined location are joined with '+', outermost first: "main;outer+inlined".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/query/profile_view.h"

namespace hbmscope {

struct TestLabel {
  std::string key, text;
  std::int64_t number = 0;  // Used where text is empty.
  std::string unit{};
};

class ProfileBuilder {
 public:
  // As JAX writes it: allocations/count and space/bytes.
  ProfileBuilder();
  // Type and unit of each value, e.g. {{"cpu", "nanoseconds"}}.
  explicit ProfileBuilder(const std::vector<std::pair<std::string, std::string>>& types);

  ProfileBuilder& name(const std::string& file);
  ProfileBuilder& time(std::int64_t time_ns);
  ProfileBuilder& drop(std::string_view drop_frames, std::string_view keep_frames = {});
  ProfileBuilder& sample(std::string_view stack, std::int64_t bytes, std::int64_t count = 1,
                         const std::vector<TestLabel>& labels = {});
  // A sample whose size the runtime does not tell.
  ProfileBuilder& unknown(std::string_view stack, std::int64_t count, const std::vector<TestLabel>& labels = {});
  // For value types of one's own.
  ProfileBuilder& values(std::string_view stack, const std::vector<std::int64_t>& values,
                         const std::vector<TestLabel>& labels = {});

  // For what a line of text can't say.
  Profile& profile() { return profile_; }
  StringId text(std::string_view text) { return profile_.strings.intern(text); }
  LocationIndex location(std::string_view frames);
  LocationIndex address(std::uint64_t address, std::string_view module);
  ProfileBuilder& values(const std::vector<LocationIndex>& innermost_first, const std::vector<std::int64_t>& values,
                         const std::vector<TestLabel>& labels = {});

  std::shared_ptr<const Profile> build() const { return std::make_shared<const Profile>(profile_); }

 private:
  FunctionIndex function(std::string_view name, std::string_view file);
  LocationIndex add_location(std::uint64_t address, MappingIndex mapping, const std::vector<Line>& lines);
  LabelSetIndex label_set(const std::vector<TestLabel>& labels);

  Profile profile_;
  std::map<std::string, LocationIndex, std::less<>> locations_;
  std::map<std::string, FunctionIndex, std::less<>> functions_;
  std::map<std::string, MappingIndex, std::less<>> mappings_;
};

// The view of a request, which must be valid.
ProfileView view_of(const std::shared_ptr<const Profile>& profile, const ViewRequest& request = {});
ProfileView view_of(const ProfileBuilder& builder, const ViewRequest& request = {});

// "main;train;adam" for frames given innermost first.
std::string folded(const std::vector<Frame>& table, const std::vector<FrameIndex>& innermost_first);

// Stacks with recursion, inlined lines, empty stacks, equal stacks, labels, and some samples of unknown size. Sums are
// small enough for any arithmetic.
ProfileBuilder random_profile(std::uint32_t seed, std::size_t samples = 200);

}  // namespace hbmscope
