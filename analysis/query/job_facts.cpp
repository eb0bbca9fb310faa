#include "analysis/query/job_facts.h"

#include <algorithm>

#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

using Fact = JobFactRow;

// Adds each value once: every stream of a job reports the same facts.
void add_value(std::vector<Fact>& facts, const std::string& key, std::string_view value) {
  auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.key == key; });
  if (found == facts.end()) found = facts.insert(facts.end(), {key, {}});
  if (std::find(found->values.begin(), found->values.end(), value) == found->values.end())
    found->values.emplace_back(value);
}

// A variable that the process has changed: its last value counts.
bool is_superseded(const std::vector<JobFact>& job, std::size_t i) {
  const std::string& key = job[i].key;
  if (!key.starts_with(wire::variable_facts) && !key.starts_with(wire::late_variable_facts)) return false;
  return std::any_of(job.begin() + static_cast<std::ptrdiff_t>(i) + 1, job.end(),
                     [&](const JobFact& later) { return later.key == key; });
}

void add_facts(std::vector<Fact>& facts, const Definitions& definitions) {
  const std::vector<JobFact>& job = definitions.job();
  for (std::size_t i = 0; i < job.size(); ++i)
    if (!job[i].key.starts_with("hbmscope.") && !job[i].key.starts_with(wire::program_facts) && !is_superseded(job, i))
      add_value(facts, job[i].key, job[i].value);
}

class Facts {
 public:
  explicit Facts(const Trace& trace) {
    for (const Stream& stream : trace.streams) {
      const Definitions& definitions = stream.definitions();
      add_facts(facts_, definitions);
      for (const HeapInfo& heap : definitions.heaps())
        if (heap.id != 0) add_value(facts_, "heaps", heap.name);
    }
  }

  const std::vector<Fact>& all() const { return facts_; }
  std::optional<std::string> find(const std::string& key) const {
    for (const Fact& fact : facts_)
      if (fact.key == key) return joined(fact.values);
    return std::nullopt;
  }

 private:
  static std::string joined(const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return text;
  }

  std::vector<Fact> facts_;
};

}  // namespace

std::vector<JobFactRow> find_job_facts(const Trace& trace) {
  std::vector<JobFactRow> facts;
  for (const Stream& stream : trace.streams) add_facts(facts, stream.definitions());
  return facts;
}

std::string text_from_setting(const std::optional<std::string>& value) {
  if (!value) return "(unknown)";
  return value->empty() ? "(empty)" : *value;
}

std::vector<SettingChange> compare_settings(const Trace& baseline, const Trace& now) {
  const Facts before(baseline), after(now);
  std::vector<SettingChange> changes;
  for (const Fact& fact : after.all()) {
    const auto was = before.find(fact.key), is = after.find(fact.key);
    if (was != is && fact.key != "process") changes.push_back({fact.key, was, is});
  }
  for (const Fact& fact : before.all())
    if (!after.find(fact.key) && fact.key != "process")
      changes.push_back({fact.key, before.find(fact.key), std::nullopt});
  return changes;
}

}  // namespace hbmscope
