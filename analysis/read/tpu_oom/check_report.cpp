#include <algorithm>

#include <fmt/format.h>

#include "analysis/read/tpu_oom/tpu_report.h"

namespace hbmscope::tpu_oom {
namespace {

const Part* find_part(const std::vector<Part>& parts, std::string_view name) {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

// A sum of printed sizes; unknown if one of them is.
class Sum {
 public:
  void add(const MaybeBytes& size) {
    if (!size) {
      is_known_ = false;
      return;
    }
    bytes_ += static_cast<std::int64_t>(size->bytes);
    error_ += static_cast<std::int64_t>(size->error);
  }
  void subtract(const MaybeBytes& size) {
    if (!size) {
      is_known_ = false;
      return;
    }
    bytes_ -= static_cast<std::int64_t>(size->bytes);
    error_ += static_cast<std::int64_t>(size->error);
  }
  bool is_known() const { return is_known_; }
  bool is(const PrintedBytes& other) const {
    const auto allowed = error_ + static_cast<std::int64_t>(other.error);
    const std::int64_t difference = bytes_ - static_cast<std::int64_t>(other.bytes);
    return difference <= allowed && difference >= -allowed;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0, error_ = 0;
  bool is_known_ = true;
};

class Checker {
 public:
  explicit Checker(const Report& report) : report_(report) {}

  Check run() {
    if (report_.form == Form::statistics) check_statistics();
    check_excess();
    if (report_.form == Form::compile) check_tables();
    if (report_.form == Form::scoped && !report_.requested) cut("the size of the scoped allocation and its limit");
    return std::move(check_);
  }

 private:
  void cut(std::string what) { check_.cuts.push_back(std::move(what)); }

  void expect(const char* what, const Sum& sum, const MaybeBytes& reported) {
    if (!sum.is_known() || !reported) return;
    ++check_.identities;
    if (!sum.is(*reported))
      check_.differences.push_back(fmt::format("{}: {} bytes instead of {}", what, sum.bytes(), reported->bytes));
  }

  void check_excess() {
    if (!report_.exceeded || !report_.requested || !report_.limit) return;
    Sum excess;
    excess.add(report_.requested);
    excess.subtract(report_.limit);
    expect("what is used less what there is", excess, report_.exceeded);
  }

  void check_statistics() {
    Sum free;
    free.add(report_.limit);
    free.subtract(report_.used);
    free.subtract(report_.reserved);
    expect("limit less in use and reserved", free, report_.largest_free);
  }

  void check_tables() {
    const bool has_arguments = report_.memory_space == "hbm";  // Other memories have none.
    const Part* arguments = find_part(report_.total_parts, "arguments");
    const Part* program = find_part(report_.total_parts, "program");
    if (has_arguments) {
      if (!report_.total_usage) cut("the table of total usage");
      if (report_.total_usage && arguments == nullptr) cut("the arguments");
      check_total(program, arguments);
    }
    if (!report_.requirement) cut("what the program requires");
    if (report_.requirement && report_.program_parts.empty()) cut("the parts of what the program requires");
    if (!report_.program_parts.empty()) {
      Sum parts;
      for (const Part& part : report_.program_parts) parts.add(part.size);
      const bool may_be_cut = report_.program_allocations.empty() && report_.requirement && parts.is_known() &&
                              !parts.is(*report_.requirement) &&
                              parts.bytes() < static_cast<std::int64_t>(report_.requirement->bytes);
      if (may_be_cut)
        cut("the last parts of what the program requires");
      else
        expect("the parts of what the program requires", parts, report_.requirement);
    }
    if (report_.requirement && report_.program_allocations.empty()) cut("the largest allocations");
    check_list(report_.program_allocations, "allocation");
    check_list(report_.arguments_and_outputs, "argument or output");
  }

  // Total usage is reserved + program + arguments. Until 2019, "used" is the same; later it excludes the reserve and
  // includes the output that is not shared with arguments.
  void check_total(const Part* program, const Part* arguments) {
    const Part* reserved = find_part(report_.total_parts, "reserved");
    if (program == nullptr || reserved == nullptr) return;
    if (report_.requirement) {
      Sum requirement;
      requirement.add(program->size);
      expect("the program's part of total usage", requirement, report_.requirement);
    }
    Sum total;
    total.add(reserved->size);
    total.add(program->size);
    if (arguments != nullptr && arguments->size) total.add(arguments->size);
    expect("reserved, program and arguments", total, report_.total_usage);
    if (is_old()) return;
    Sum used;
    used.add(program->size);
    if (arguments == nullptr) return;
    used.add(arguments->size);
    if (report_.output) used.add(report_.output);
    if (report_.output && report_.output_shared) used.subtract(report_.output_shared);
    if (!report_.output && !used_is_total_less_reserved(*reserved)) return;
    expect("program, arguments and unshared output", used, report_.used);
  }

  bool used_is_total_less_reserved(const Part& reserved) const {
    Sum used;
    used.add(report_.total_usage);
    used.subtract(reserved.size);
    return used.is_known() && report_.used && used.is(*report_.used);
  }

  // Until 2019 "used" includes the reserve.
  bool is_old() const {
    Sum total;
    total.add(report_.total_usage);
    return total.is_known() && report_.used && total.is(*report_.used);
  }

  void check_list(const std::vector<Allocation>& list, const char* what) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!list[i].is_whole) cut(fmt::format("the end of {} {}", what, i + 1));
  }

  const Report& report_;
  Check check_;
};

}  // namespace

Check check_report(const Report& report) {
  return Checker(report).run();
}

}  // namespace hbmscope::tpu_oom
