#include "analysis/diagnose/proof.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/whatif/what_if.h"

namespace hbmscope {
namespace {

// A setting to try, and the advice that it becomes.
struct Candidate {
  // Of each group that no advice named, only the first that fits is shown.
  enum class Group : std::uint8_t { given, fraction, vmm, split };

  Scenario scenario;
  Advice advice;
  std::string given;  // The words of the advice that it replaces. Empty if it is a new one.
  Group group = Group::given;
};
using Group = Candidate::Group;

// From what costs nothing but memory outside of the pool to what makes each allocation slow: the keys of advice.
std::size_t price_of(const Advice& advice) {
  constexpr std::string_view keys[] = {"fraction",   "preallocate", "expandable", "split",
                                       "cuda_async", "vmm",         "platform"};
  return static_cast<std::size_t>(std::find(std::begin(keys), std::end(keys), advice.key) - std::begin(keys));
}

class Prover {
 public:
  Prover(const Trace& trace, Diagnosis& diagnosis, PassControl& control)
      : trace_(trace), diagnosis_(diagnosis), control_(control) {}

  void prove() {
    if (!is_about_a_pool() || !find_source()) return;
    find_candidates();
    std::vector<Scenario> scenarios = {own_scenario(source_->own).value()};
    for (const Candidate& candidate : candidates_) scenarios.push_back(candidate.scenario);
    const auto rows = run_what_if(*source_, std::move(scenarios), control_, {failed_ + 1});
    if (rows.empty() || rows.front().verdict != WhatIfVerdict::does_not_fit) return;
    judge(rows);
  }

 private:
  bool is_about_a_pool() const {
    if (!row_of(diagnosis_.cause.cause).is_provable) return false;
    const Framework framework = diagnosis_.cause.framework;
    return framework == Framework::jax_gpu || framework == Framework::pytorch;
  }

  bool find_source() {
    if (trace_.streams[diagnosis_.stream].end_position() > quick_events_max) return false;
    const HeapKey heap{static_cast<std::uint32_t>(diagnosis_.stream), diagnosis_.facts.heap};
    auto found = find_what_if_source(trace_, choice_of_heap(trace_, heap));
    if (!found || !found->is_checked() || found->requests.failures.empty()) return false;
    // A replay begins with an empty pool, and what the pool can't have must be known.
    if (found->requests.lived_before > 0 || !found->own.is_outside_known) return false;
    const auto [operation, event] = found->requests.failures.front();
    if (event != diagnosis_.facts.event) return false;
    failed_ = operation;
    source_ = std::move(*found);
    return true;
  }

  void try_words(std::string words, Advice advice, Group group = Group::given) {
    std::string given = group == Group::given ? advice.words : std::string();
    constexpr std::string_view conf = "PYTORCH_CUDA_ALLOC_CONF=";
    if (words.starts_with(conf)) words = words_of_torch(source_->own, std::string_view(words).substr(conf.size()));
    if (auto scenario = scenario_from(source_->own, words)) {
      advice.words = std::move(words);
      candidates_.push_back({std::move(*scenario), std::move(advice), std::move(given), group});
    }
  }

  void find_candidates() {
    for (const Advice& advice : diagnosis_.advice)
      if (!advice.words.empty() && !sets_fraction(advice.words)) try_words(advice.words, advice);
    if (source_->own.is_pytorch)
      find_torch_candidates();
    else
      find_jax_candidates();
  }

  static bool sets_fraction(std::string_view words) { return words.find("MEM_FRACTION=") != std::string_view::npos; }

  void find_jax_candidates() {
    if (row_of(diagnosis_.cause.immediate).has_blockers)
      try_words("XLA_PYTHON_CLIENT_ALLOCATOR=vmm",
                {{},
                 "Each array has memory and addresses of its own, so free memory is not split.",
                 "Each array takes whole pages of 2 MiB.",
                 AdviceProof::replayed,
                 "vmm"},
                Group::vmm);
    find_fractions();
  }

  // In steps of a hundredth, from the first that is more than the job had.
  void find_fractions() {
    const Scenario own = own_scenario(source_->own).value();
    const auto* xla = std::get_if<allocator::xla_gpu::Options>(&own.options);
    if (xla == nullptr) return;
    const double device = static_cast<double>(source_->own.device_bytes);
    const int used =
        static_cast<int>(std::clamp(static_cast<double>(xla->limit_bytes) / device * 100 + 0.01, 0.0, 100.0));
    for (int percent = used + 1; percent <= static_cast<int>(fraction_max * 100); ++percent) {
      const auto pool = static_cast<std::uint64_t>(device * percent / 100);
      try_words(
          fmt::format("{}={:.2f}", source_->own.fraction_variable, percent / 100.0),
          {{},
           fmt::format("The pool then has {}, and had {}.", text_from_bytes(pool), text_from_bytes(xla->limit_bytes)),
           text_from_left_outside(device * (100 - percent) / 100),
           AdviceProof::replayed,
           "fraction"},
          Group::fraction);
    }
  }

  void find_torch_candidates() {
    for (const char* value :
         {"max_split_size_mb:512", "max_split_size_mb:256", "max_split_size_mb:128", "max_split_size_mb:64",
          "max_split_size_mb:32", "roundup_power2_divisions:8", "roundup_power2_divisions:4"})
      try_words(
          fmt::format("PYTORCH_CUDA_ALLOC_CONF={}", value),
          {{},
           value[0] == 'm' ? "Large free blocks are then kept for large requests instead of being split."
                           : "Requests are then rounded to fewer sizes, so freed blocks are used again more often.",
           "More memory is lost to rounding.",
           AdviceProof::replayed,
           "split"},
          Group::split);
  }

  // What the replay showed, and what it left.
  void note_proof(Advice& advice, const WhatIfRow& row) const {
    const allocator::Statistics& after = row.result.statistics;
    const std::uint64_t free = after.pool_bytes - std::min(after.pool_bytes, after.in_use_bytes);
    advice.change = advice.words;
    advice.proof = AdviceProof::replayed;
    advice.fits = row.fits();
    advice.is_approximate = row.confidence == Confidence::approximate;
    if (!row.fits()) {
      advice.room_bytes.reset();
      if (const auto& failure = row.result.first_failure)
        advice.proof_text =
            fmt::format("Replayed, a request of {} fails under it, too.", text_from_bytes(failure->request.bytes));
      return;
    }
    advice.room_bytes = free;
    advice.proof_text = fmt::format(
        "Replayed, all {} up to and including the one that failed are served; then {} is free in the pool",
        text_from_count_of(row.result.allocations + row.result.zero_requests, "request"), text_from_bytes(free));
    if (row.scenario.upstream.device_bytes) {
      const std::uint64_t device = *row.scenario.upstream.device_bytes;
      const std::uint64_t left = device - std::min(device, after.pool_bytes);
      // A pool with a limit below that can't have it all.
      const auto* xla = std::get_if<allocator::xla_gpu::Options>(&row.scenario.options);
      const std::uint64_t limit = xla == nullptr ? device : xla->limit_bytes;
      advice.room_bytes = free + std::min(left, limit - std::min(limit, after.pool_bytes));
      advice.proof_text += fmt::format(" and {}{} on the device", source_->own.is_device_at_least ? "at least " : "",
                                       text_from_bytes(left));
    }
    advice.proof_text += ".";
  }

  void judge(const std::vector<WhatIfRow>& rows) {
    std::vector<Advice> fitting, failing;
    std::vector<std::string> replaced;
    std::set<Group> shown;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const WhatIfRow& row = rows[i + 1];
      auto& [scenario, advice, given, group] = candidates_[i];
      // What was found by trying is shown only if it is certain, except for another allocator.
      const bool is_certain = row.confidence == Confidence::checked;
      if (group != Group::given && (!row.fits() || (!is_certain && group != Group::vmm) || !shown.insert(group).second))
        continue;
      note_proof(advice, row);
      if (group == Group::fraction)
        advice.proof_text += " It is the least that is enough for these; what the job requests later may need more.";
      if (!given.empty()) replaced.push_back(given);
      (row.fits() ? fitting : failing).push_back(std::move(advice));
    }
    // Advice that works makes trying unlikely settings unnecessary.
    if (fitting.size() > 1 && shown.contains(Group::split))
      std::erase_if(fitting, [](const Advice& one) { return one.key == "split"; });
    std::vector<Advice>& all = diagnosis_.advice;
    std::erase_if(all, [&](const Advice& one) {
      return (sets_fraction(one.words) && rows.size() > 1) ||
             std::find(replaced.begin(), replaced.end(), one.words) != replaced.end();
    });
    const auto is_cheaper = [](const Advice& a, const Advice& b) { return price_of(a) < price_of(b); };
    std::stable_sort(fitting.begin(), fitting.end(), is_cheaper);
    std::stable_sort(failing.begin(), failing.end(), is_cheaper);
    all.insert(all.begin(), fitting.begin(), fitting.end());
    all.insert(all.end(), failing.begin(), failing.end());
  }

  const Trace& trace_;
  Diagnosis& diagnosis_;
  PassControl& control_;
  std::optional<WhatIfSource> source_;
  std::uint64_t failed_ = 0;  // The operation.
  std::vector<Candidate> candidates_;
};

}  // namespace

void prove_advice(const Trace& trace, Diagnosis& diagnosis, PassControl& control) {
  Prover(trace, diagnosis, control).prove();
}

}  // namespace hbmscope
