#include "analysis/judge/gate.h"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/query/groups.h"
#include "analysis/query/where.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

constexpr std::array<WhereField, 5> report_fields = {{{"bytes", FieldKind::bytes, "bytes in the report", {}},
                                                      {"count", FieldKind::count, "arrays and programs in it", {}},
                                                      {"unknown", FieldKind::count, "programs of unknown size", {}},
                                                      {"device", FieldKind::text, "for each device", {}},
                                                      {"kind", FieldKind::text, "for each kind", {}}}};

constexpr std::array<WhereField, 8> diff_fields = {
    {{"growth", FieldKind::percent, "growth in percent of the baseline", {}},
     {"growth_bytes", FieldKind::bytes, "now - baseline", {}},
     {"growth_count", FieldKind::count, "now - baseline", {}},
     {"bytes", FieldKind::bytes, "bytes now", {}},
     {"count", FieldKind::count, "arrays and programs now", {}},
     {"unmatched", FieldKind::percent, "bytes of stacks that only one side has", {}},
     {"device", FieldKind::text, "for each device", {}},
     {"kind", FieldKind::text, "for each kind", {}}}};

// What a condition is checked for: the total, a device or a kind.
struct Subject {
  std::string name;  // Empty: the total.
  Weight baseline, now;
  std::int64_t unmatched_bytes = 0, compared_bytes = 0;
};

double growth_percent(const Subject& subject) {
  const double before = static_cast<double>(subject.baseline.bytes), after = static_cast<double>(subject.now.bytes);
  if (before == after) return 0;
  if (before == 0) return std::numeric_limits<double>::infinity();
  return 100.0 * (after - before) / before;
}

bool term_holds(const WhereTerm& term, std::string_view field, const Subject& subject) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  if (field == "bytes") return term.matches_number(number(subject.now.bytes));
  if (field == "count") return term.matches_number(number(subject.now.count + subject.now.unknown));
  if (field == "unknown") return term.matches_number(number(subject.now.unknown));
  if (field == "growth") return term.matches_number(growth_percent(subject));
  if (field == "growth_bytes")
    return term.matches_number(number(clamped_difference(subject.now.bytes, subject.baseline.bytes)));
  if (field == "growth_count")
    return term.matches_number(number(clamped_difference(subject.now.count, subject.baseline.count)));
  if (field == "unmatched")
    return term.matches_number(
        subject.compared_bytes == 0 ? 0 : 100.0 * number(subject.unmatched_bytes) / number(subject.compared_bytes));
  return field == "device" ? term.matches_device(subject.name) : term.matches_text(subject.name);
}

// The field that a condition is checked by. A condition may name devices or kinds, not both.
Result<std::string> subject_field(const WhereNode& where, std::span<const WhereField> fields) {
  std::string found;
  bool is_mixed = false, is_empty = true;
  for_each_term(where, [&](const WhereTerm& term) {
    is_empty = false;
    const std::string_view name = fields[term.field].name;
    if (name != "device" && name != "kind") return;
    is_mixed = is_mixed || (!found.empty() && found != name);
    found = name;
  });
  if (is_empty) return Failure(refusal("--fail-if has no condition", "Write one, e.g. 'bytes>40GiB'."));
  if (is_mixed)
    return Failure(refusal("--fail-if can check devices or kinds, not both", "Run it twice, or filter with --where."));
  return found;
}

std::optional<std::string> find_failure(const WhereNode& where, std::span<const WhereField> fields,
                                        const std::string& expression, const std::vector<Subject>& subjects,
                                        std::string_view unit, bool is_diff) {
  for (const Subject& subject : subjects) {
    if (!holds(where, [&](const WhereTerm& term) { return term_holds(term, fields[term.field].name, subject); }))
      continue;
    std::string is =
        fmt::format("{} in {}", text_from_value(subject.now.bytes, unit), text_from_count(subject.now.count));
    if (is_diff)
      is += fmt::format(", {} ({})",
                        delta_text_from_value(clamped_difference(subject.now.bytes, subject.baseline.bytes), unit),
                        delta_text_from_share(subject.baseline.bytes, subject.now.bytes));
    return fmt::format("--fail-if: {} is true{}: {}", expression, subject.name.empty() ? "" : " for " + subject.name,
                       is);
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileView& view) {
  const auto where = parse_where(expression, report_fields);
  if (!where) return Failure(where.error());
  const auto field = subject_field(*where, report_fields);
  if (!field) return Failure(field.error());
  std::vector<Subject> subjects;
  if (field->empty())
    subjects.push_back({{}, {}, view.selected});
  else
    for (const GroupRow& group : compute_groups(view, *field))
      if (group.name) subjects.push_back({*group.name, {}, group.weight});
  const std::string_view unit = view.profile->text(view.profile->value_types[view.columns.primary].unit);
  return find_failure(*where, report_fields, expression, subjects, unit, false);
}

Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileDiff& diff) {
  const auto where = parse_where(expression, diff_fields);
  if (!where) return Failure(where.error());
  const auto field = subject_field(*where, diff_fields);
  if (!field) return Failure(field.error());
  std::vector<Subject> subjects;
  if (field->empty())
    subjects.push_back({{}, diff.baseline, diff.now, diff.unmatched_bytes, diff.compared_bytes});
  else
    for (const GroupDiffRow& group : *field == "device" ? diff.devices : diff.kinds)
      if (group.name)
        subjects.push_back({*group.name, group.baseline, group.now, diff.unmatched_bytes, diff.compared_bytes});
  return find_failure(*where, diff_fields, expression, subjects, diff.unit, true);
}

}  // namespace hbmscope
