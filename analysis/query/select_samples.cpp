#include "analysis/query/select_samples.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>
#include <re2/re2.h>

#include "analysis/query/where.h"

namespace hbmscope {
namespace {

using Bits = std::vector<std::uint8_t>;  // 0 or 1 per sample, location or label set.

bool matches(const re2::RE2& pattern, std::string_view text) {
  return RE2::PartialMatch({text.data(), text.size()}, pattern);
}

bool location_matches(const ProfileView& view, LocationIndex location, const re2::RE2& pattern) {
  for (const Line& line : view.lines(location))
    if (line_matches(*view.profile, line, pattern)) return true;
  return mapping_matches(*view.profile, location, pattern);
}

Result<std::shared_ptr<const re2::RE2>> compile(const std::string& text, const char* option) {
  if (text.empty()) return nullptr;
  auto pattern = std::make_shared<const RE2>(text, RE2::Quiet);
  if (!pattern->ok())
    return Failure(refusal(fmt::format("{} '{}' is not a valid regular expression: {}", option, text, pattern->error()),
                           "The syntax is RE2's: https://github.com/google/re2/wiki/Syntax."));
  return pattern;
}

// 1 for every sample with at least one location whose bit is set.
Bits samples_through(const ProfileView& view, const Bits& location_bits) {
  Bits bits(view.profile->sample_count());
  for (std::size_t sample = 0; sample < bits.size(); ++sample)
    for (const LocationIndex location : view.stack(static_cast<std::uint32_t>(sample)))
      if (location_bits[row(location)] != 0) {
        bits[sample] = 1;
        break;
      }
  return bits;
}

template <class Test>
Bits test_locations(const Profile& profile, const Test& test) {
  Bits bits(profile.location_count());
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = test(static_cast<LocationIndex>(i)) ? 1 : 0;
  return bits;
}

class WhereEvaluator {
 public:
  explicit WhereEvaluator(const ProfileView& view) : view_(view), profile_(*view.profile) {}

  Bits evaluate(const WhereNode& node) const {
    const std::size_t count = profile_.sample_count();
    switch (node.kind) {
      case WhereNode::Kind::term: return evaluate_term(node.term);
      case WhereNode::Kind::all_of: {
        Bits bits(count, 1);
        for (const WhereNode& child : node.children)
          combine(bits, evaluate(child), [](std::uint8_t a, std::uint8_t b) { return a & b; });
        return bits;
      }
      case WhereNode::Kind::any_of:
      case WhereNode::Kind::none_of: {
        Bits bits(count, 0);
        for (const WhereNode& child : node.children)
          combine(bits, evaluate(child), [](std::uint8_t a, std::uint8_t b) { return a | b; });
        if (node.kind == WhereNode::Kind::none_of)
          for (std::uint8_t& bit : bits) bit ^= 1;
        return bits;
      }
    }
    return Bits(count, 0);
  }

 private:
  template <class Op>
  static void combine(Bits& into, const Bits& with, const Op& op) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<std::uint8_t>(op(into[i], with[i]));
  }

  Bits evaluate_term(const WhereTerm& term) const {
    const std::string_view field = profile_where_fields()[term.field].name;
    if (field == "size" || field == "bytes" || field == "count") return evaluate_number(term, field);
    if (field == "device" || field == "kind" || field == "label") return evaluate_labels(term, field);
    return evaluate_stack(term, field);
  }

  Bits evaluate_number(const WhereTerm& term, std::string_view field) const {
    Bits bits(profile_.sample_count());
    for (std::size_t sample = 0; sample < bits.size(); ++sample) {
      const Weight weight = view_.weight(static_cast<std::uint32_t>(sample));
      if (field == "count") {
        bits[sample] = term.matches_number(static_cast<double>(weight.count + weight.unknown)) ? 1 : 0;
        continue;
      }
      if (weight.unknown != 0) continue;  // An unknown size is neither larger nor smaller.
      double bytes = static_cast<double>(weight.bytes);
      if (field == "size" && weight.count > 0) bytes /= static_cast<double>(weight.count);
      bits[sample] = term.matches_number(bytes) ? 1 : 0;
    }
    return bits;
  }

  // A sample has many frames and may have many labels. A text that must differ has to differ in all of them, so that
  // -function=x and function!=x agree.
  static WhereTerm positive_of(const WhereTerm& term) {
    WhereTerm positive = term;
    if (term.op == WhereOp::differs) positive.op = WhereOp::equals;
    return positive;
  }

  // Uses the profile's own functions and files, even if the view groups by file or hides frames.
  Bits evaluate_stack(const WhereTerm& term, std::string_view field) const {
    const WhereTerm positive = positive_of(term);
    const auto texts_match = [&](std::string_view function, std::string_view file) {
      return (field != "file" && positive.matches_text(function)) ||
             (field != "function" && positive.matches_text(file));
    };
    Bits functions(profile_.functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const Function& function = profile_.functions[i];
      functions[i] = texts_match(function_text(profile_, function), profile_.text(function.file)) ? 1 : 0;
    }
    const auto address_matches = [&](LocationIndex location) {
      const MappingIndex mapping = profile_.location_mapping[row(location)];
      return texts_match(address_text(profile_, location), mapping == MappingIndex::none
                                                               ? std::string_view{}
                                                               : profile_.text(profile_.mappings[row(mapping)].file));
    };
    const Bits locations = test_locations(profile_, [&](LocationIndex location) {
      const auto lines = view_.lines(location);
      if (lines.empty()) return address_matches(location);
      return std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
        return line.function == FunctionIndex::none ? address_matches(location) : functions[row(line.function)] != 0;
      });
    });
    Bits bits = samples_through(view_, locations);
    if (term.op == WhereOp::differs)
      for (std::uint8_t& bit : bits) bit ^= 1;
    return bits;
  }

  Bits evaluate_labels(const WhereTerm& term, std::string_view field) const {
    const WhereTerm positive = positive_of(term);
    Bits sets(profile_.label_set_count());
    for (std::size_t i = 0; i < sets.size(); ++i)
      sets[i] =
          label_set_matches(positive, field, static_cast<LabelSetIndex>(i)) != (term.op == WhereOp::differs) ? 1 : 0;
    Bits bits(profile_.sample_count());
    for (std::size_t sample = 0; sample < bits.size(); ++sample) bits[sample] = sets[row(profile_.label_set[sample])];
    return bits;
  }

  bool label_set_matches(const WhereTerm& term, std::string_view field, LabelSetIndex set) const {
    const auto labels = profile_.label_set_labels(set);
    return std::any_of(labels.begin(), labels.end(), [&](const Label& label) {
      const std::string_view key = profile_.text(label.key);
      if (field == "label") return term.matches_text(std::string(key) + "=" + label_text(profile_, label));
      if (key != field) return false;
      const std::string value = label_text(profile_, label);
      return field == "device" ? term.matches_device(value) : term.matches_text(value);
    });
  }

  const ProfileView& view_;
  const Profile& profile_;
};

// As pprof's focus and ignore: ignore takes precedence over focus, whatever else is in the stack.
void apply_focus(const FramePatterns& patterns, const ProfileView& view, Bits& keep) {
  const Profile& profile = *view.profile;
  if (patterns.focus == nullptr && patterns.ignore == nullptr) return;
  Bits ignored(profile.location_count());
  if (patterns.ignore != nullptr)
    ignored = test_locations(profile, [&](LocationIndex l) { return location_matches(view, l, *patterns.ignore); });
  if (patterns.focus != nullptr) {
    Bits focused = test_locations(profile, [&](LocationIndex l) { return location_matches(view, l, *patterns.focus); });
    for (std::size_t i = 0; i < focused.size(); ++i) focused[i] = focused[i] != 0 && ignored[i] == 0 ? 1 : 0;
    const Bits bits = samples_through(view, focused);
    for (std::size_t i = 0; i < keep.size(); ++i) keep[i] &= bits[i];
  }
  if (patterns.ignore != nullptr) {
    const Bits bits = samples_through(view, ignored);
    for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = keep[i] != 0 && bits[i] == 0 ? 1 : 0;
  }
}

// Drops samples whose frames are all hidden; samples that never had any frames stay.
void apply_hidden(const ProfileView& view, Bits& keep) {
  const Bits visible = test_locations(*view.profile, [&](LocationIndex l) { return !view.frames_of(l).empty(); });
  const Bits could_be = test_locations(*view.profile, [&](LocationIndex l) {
    const auto lines = view.lines(l);
    return lines.empty() ||
           std::any_of(lines.begin(), lines.end(), [&](const Line& line) { return !is_of_interpreter(view, line); });
  });
  const Bits is_visible = samples_through(view, visible), had_frames = samples_through(view, could_be);
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (is_visible[i] == 0 && had_frames[i] != 0) keep[i] = 0;
}

}  // namespace

std::string_view function_text(const Profile& profile, const Function& function) {
  if (function.name != StringId::empty) return profile.text(function.name);
  if (function.system_name != StringId::empty) return profile.text(function.system_name);
  return "<no name>";
}

std::string address_text(const Profile& profile, LocationIndex location) {
  const std::uint64_t address = profile.location_address[row(location)];
  if (address == 0 && profile.location_mapping[row(location)] == MappingIndex::none) return "<missing location>";
  return fmt::format("0x{:x}", address);
}

bool is_of_interpreter(const ProfileView& view, const Line& line) {
  return !view.is_interpreter.empty() && line.function != FunctionIndex::none &&
         view.is_interpreter[row(line.function)];
}

std::vector<Line> visible_lines(const ProfileView& view, const FramePatterns& patterns, LocationIndex location) {
  const Profile& profile = *view.profile;
  if (patterns.hide && mapping_matches(profile, location, *patterns.hide)) return {};
  const bool module_shown = !patterns.show || mapping_matches(profile, location, *patterns.show);
  std::vector<Line> visible;
  for (const Line& line : view.lines(location)) {
    if (patterns.hide && line_matches(profile, line, *patterns.hide)) continue;
    // A line without a function can't be matched, so show keeps it.
    if (!module_shown && line.function != FunctionIndex::none && !line_matches(profile, line, *patterns.show)) continue;
    visible.push_back(line);
  }
  return visible;
}

bool is_visible_without_lines(const ProfileView& view, const FramePatterns& patterns, LocationIndex location) {
  // pprof's show removes locations whose lines it can't match, including those without lines.
  if (patterns.show && !mapping_matches(*view.profile, location, *patterns.show)) return false;
  return !patterns.hide || !mapping_matches(*view.profile, location, *patterns.hide);
}

bool line_matches(const Profile& profile, const Line& line, const re2::RE2& pattern) {
  if (line.function == FunctionIndex::none) return false;
  const Function& function = profile.functions[row(line.function)];
  return matches(pattern, profile.text(function.name)) || matches(pattern, profile.text(function.file));
}

bool mapping_matches(const Profile& profile, LocationIndex location, const re2::RE2& pattern) {
  const MappingIndex mapping = profile.location_mapping[row(location)];
  return mapping != MappingIndex::none && matches(pattern, profile.text(profile.mappings[row(mapping)].file));
}

Result<FramePatterns> compile_frame_patterns(const ViewRequest& request) {
  FramePatterns patterns;
  const auto set = [](std::shared_ptr<const re2::RE2>& pattern, const std::string& text,
                      const char* option) -> Result<void> {
    auto compiled = compile(text, option);
    if (!compiled) return Failure(std::move(compiled.error()));
    pattern = std::move(*compiled);
    return {};
  };
  if (auto done = set(patterns.focus, request.focus, "--focus"); !done) return Failure(std::move(done.error()));
  if (auto done = set(patterns.ignore, request.ignore, "--ignore"); !done) return Failure(std::move(done.error()));
  if (auto done = set(patterns.hide, request.hide, "--hide"); !done) return Failure(std::move(done.error()));
  if (auto done = set(patterns.show, request.show, "--show"); !done) return Failure(std::move(done.error()));
  return patterns;
}

Result<void> select_samples(const FramePatterns& patterns, ProfileView& view) {
  const bool has_frame_filter = patterns.focus || patterns.ignore || patterns.hide || patterns.show;
  if (!has_frame_filter && view.request.where.empty() && view.request.kept == nullptr) return {};
  Bits keep(view.profile->sample_count(), 1);
  assert(view.request.kept == nullptr || view.request.kept->size() == keep.size());
  for (std::size_t i = 0; view.request.kept != nullptr && i < std::min(keep.size(), view.request.kept->size()); ++i)
    keep[i] = (*view.request.kept)[i] ? 1 : 0;
  apply_focus(patterns, view, keep);
  if (patterns.hide || patterns.show) apply_hidden(view, keep);
  if (!view.request.where.empty()) {
    auto where = parse_where(view.request.where, profile_where_fields());
    if (!where) return Failure(std::move(where.error()));
    const Bits bits = WhereEvaluator(view).evaluate(*where);
    for (std::size_t i = 0; i < keep.size(); ++i) keep[i] &= bits[i];
  }
  view.all_samples = false;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i] != 0) view.samples.push_back(static_cast<std::uint32_t>(i));
  return {};
}

}  // namespace hbmscope
