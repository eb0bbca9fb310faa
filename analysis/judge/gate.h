// --fail-if on named figures, for scripts and CI: "peak>40GiB", "device:0 margin<2GiB", "setting:a100 fits=no".
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/query/diff.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/where.h"

namespace hbmscope {

struct Trace;

// What a condition is checked for: a heap, a device, a setting, with its figures by the names of fields.
class GateSubject {
 public:
  explicit GateSubject(std::string name) : name_(std::move(name)) {}

  template <class Number>
  void set(std::string_view field, const std::optional<Number>& value) {
    if (value) figures_.insert_or_assign(std::string(field), static_cast<double>(*value));
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void set(std::string_view field, Number value) {
    figures_.insert_or_assign(std::string(field), static_cast<double>(value));
  }
  void set(std::string_view field, std::string value) {
    figures_.insert_or_assign(std::string(field), std::move(value));
  }

  const std::string& name() const { return name_; }
  const double* number(std::string_view field) const;  // Null: unknown.
  const std::string* text(std::string_view field) const;

 private:
  std::string name_;
  std::map<std::string, std::variant<double, std::string>, std::less<>> figures_;
};

// The first subject for which the condition is true, as a sentence with its figures; nothing if there is none, or no
// condition. Errors:
// an invalid condition; a figure that decides and is unknown, because a gate must not pass for lack of knowledge.
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, std::span<const WhereField> fields,
                                                     const std::vector<GateSubject>& subjects);

// The most that a heap of the device grows by in a step. Nothing without marked steps.
std::optional<std::int64_t> find_growth_per_step(const Trace& trace, std::uint32_t device);

// For a trace, checked for each heap that counts: the fields are peak, pool, limit, in_use, largest_free,
// fragmentation, margin, growth_per_step, failures, verdict, heap and device. The figures are those at the end, but for
// the peaks.
std::span<const WhereField> trace_gate_fields();
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const Trace& trace);

// For a report or a comparison of profiles: a condition that names a device or a kind is checked for each device or
// kind, any other condition for the totals. The condition that was true, as a sentence; nothing if none was.
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileView& view);
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileDiff& diff);

}  // namespace hbmscope
