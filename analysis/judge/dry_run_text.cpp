#include "analysis/judge/dry_run.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/diagnose/growth.h"
#include "analysis/judge/gate.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/units/ascii.h"
#include "analysis/units/contains.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

namespace fs = std::filesystem;

std::uint64_t spare_of_device(const DeviceNeed& need) {
  return need.total_bytes - std::min(need.total_bytes, need.peak_bytes);
}
std::uint64_t spare_of_pools(const DeviceNeed& need) {
  std::uint64_t spare = need.total_bytes;
  for (const FrameworkUse& one : need.frameworks) {
    if (one.limit_bytes && one.peak_in_use_bytes)
      spare = std::min(spare, *one.limit_bytes - std::min(*one.limit_bytes, *one.peak_in_use_bytes));
    if (one.pool_limit_bytes && one.peak_pool_bytes)
      spare = std::min(spare, *one.pool_limit_bytes - std::min(*one.pool_limit_bytes, *one.peak_pool_bytes));
  }
  return spare;
}
// Free in pools that count as taken on the device.
std::uint64_t unused_in_pools(const DeviceNeed& need) {
  std::uint64_t unused = 0;
  for (const FrameworkUse& one : need.frameworks)
    if (one.limit_bytes && one.peak_in_use_bytes) {
      // TensorFlow doesn't say how large its pool is.
      const std::uint64_t pool = one.peak_pool_bytes.value_or(std::min(*one.limit_bytes, need.peak_bytes));
      unused += pool - std::min(pool, *one.peak_in_use_bytes);
    }
  return unused;
}

std::string first_line(const std::string& text) {
  constexpr std::size_t length_max = 240;
  // An exception that another process sent has that process' whole traceback; its last line is the exception.
  const std::size_t end = text.find_last_not_of(" \n");
  std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return {};
  if (text.find("Traceback (most recent call last)") != std::string::npos) begin = text.rfind('\n', end) + 1;
  std::string line = text.substr(begin, std::min(text.find('\n', begin), end + 1) - begin);
  if (line.size() > length_max) {
    const std::size_t sentence = line.rfind(". ", length_max);
    line = sentence != std::string::npos ? line.substr(0, sentence + 1) : line.substr(0, length_max) + "...";
  }
  return printable(line);
}

std::string_view title_of(const std::string& framework) {
  if (framework == "jax") return "JAX";
  if (framework == "tensorflow") return "TensorFlow";
  return framework == "torch" ? "PyTorch" : std::string_view(framework);
}

std::string text_from_use(const FrameworkUse& one) {
  std::string text;
  if (one.peak_pool_bytes)
    text = fmt::format("{}'s pool {}", title_of(one.framework), text_from_bytes(*one.peak_pool_bytes));
  if (one.peak_in_use_bytes)
    text +=
        fmt::format("{} at most {}", text.empty() ? fmt::format("in {}'s pool", title_of(one.framework)) : ", in use",
                    text_from_bytes(*one.peak_in_use_bytes));
  return text;
}

// "in use at most 785 MiB of 79.1 GiB (JAX's pool took 59.3 GiB in advance, in all 59.8 GiB)": first what the program
// needs, then what its framework makes of that.
std::string text_from_only_use(const FrameworkUse& one, const DeviceNeed& need) {
  std::string text = "in use at most " + text_from_part_of(*one.peak_in_use_bytes, need.total_bytes) + " (";
  if (one.peak_pool_bytes) {
    constexpr std::uint64_t rounding = 256;  // XLA rounds what it takes, and not its limit.
    const bool is_in_advance =
        !one.grows_on_demand && one.limit_bytes && *one.peak_pool_bytes + rounding > *one.limit_bytes;
    text += fmt::format("{}'s pool {}{}{}, ", title_of(one.framework), is_in_advance ? "took " : "",
                        text_from_bytes(*one.peak_pool_bytes), is_in_advance ? " in advance" : "");
  }
  return text + "in all " + text_from_bytes(need.peak_bytes) + ")";
}

std::string text_from_need(const DryRun& run, const DeviceNeed& need) {
  if (need.tpu) return text_from_tpu_need(run, need);
  if (need.processes <= 1 && need.frameworks.size() == 1 && need.frameworks.front().peak_in_use_bytes)
    return text_from_only_use(need.frameworks.front(), need);
  constexpr std::size_t uses_shown = 3;
  std::string text = "peak " + text_from_part_of(need.peak_bytes, need.total_bytes);
  std::string parts;
  for (std::size_t i = 0; i < std::min(uses_shown, need.frameworks.size()); ++i)
    parts += (i == 0 ? "" : "; ") + text_from_use(need.frameworks[i]);
  if (need.frameworks.size() > uses_shown) parts += fmt::format("; and {} more", need.frameworks.size() - uses_shown);
  if (need.processes > 1)
    parts = text_from_count_of(need.processes, "process", "processes") + (parts.empty() ? "" : ": ") + parts;
  return text + (parts.empty() ? "" : " (" + parts + ")");
}

std::string text_from_survived(const DryRun& run) {
  if (run.is_unread)
    return "The job ended without an error because it never read the result: JAX raises one where a value is read.\n";
  const std::string& what = run.survived.empty() ? run.refused_last : run.survived;
  if (what.empty()) return {};
  return fmt::format("{}, and {}.\n", capitalised(what),
                     run.survived.empty() ? "no retry followed" : "the job went on");
}

std::string text_at_peak(const DryRun& run) {
  std::uint64_t peak_bytes = 0;
  for (const DeviceNeed& need : run.needs) peak_bytes = std::max(peak_bytes, need.peak_bytes);
  const std::string lines = text_from_holders(run.holders, peak_bytes);
  if (lines.empty()) return {};
  // A recording has all devices; the figures above are those of one.
  const std::string of_what = run.needs.size() > 1
                                  ? fmt::format("Most at the peak, of all {} devices together", run.needs.size())
                                  : "Most of it at the peak";
  return fmt::format("{}: {}.\n", of_what, lines);
}

// Only where it fits: whatever failed says that it may need more.
std::string text_from_proof(const DryRun& run) {
  if (run.outcome == DryRunOutcome::fits) return text_from_proof(run.proof);
  if (run.outcome != DryRunOutcome::failed || run.proof.reads.empty()) return "";
  return "The dry run may be the cause of the failure. " + text_from_proof(run.proof);
}

// Frameworks also call what they can do without, so a failure of another kind has nothing to do with it.
std::string text_from_called_in_vain(const DryRun& run) {
  if (run.called_in_vain.empty()) return {};
  const auto text_from = [](const std::string& function) {
    return fmt::format("; it needs {}, which is not emulated", printable(function));
  };
  if (!run.failure) return text_from(run.called_in_vain.front());
  const std::string& failure = run.failure->text;
  for (const std::string& function : run.called_in_vain)
    if (failure.find(function) != std::string::npos) return text_from(function);
  // What an error names, and how the functions of that library begin.
  constexpr std::string_view libraries[] = {"cudnn", "cublas", "cusparse", "cusolver", "cufft", "curand", "nccl"};
  for (const std::string_view library : libraries) {
    if (!contains_ignoring_case(failure, library)) continue;
    for (const std::string& function : run.called_in_vain)
      if (function.starts_with(library)) return text_from(function);
    return {};
  }
  constexpr std::string_view of_any[] = {"CUDA", "not supported", "not emulated"};
  const bool may_be_why = std::any_of(std::begin(of_any), std::end(of_any),
                                      [&](std::string_view word) { return contains_ignoring_case(failure, word); });
  return may_be_why ? text_from(run.called_in_vain.front()) : "";
}

// "out of memory: ...", without its end of line.
std::string headline_of(const DryRun& run, const DeviceNeed* need) {
  switch (run.outcome) {
    case DryRunOutcome::fits:
      return fmt::format("fits: {}, {} to spare{}", text_from_need(run, *need), text_from_bytes(need->spare_bytes()),
                         !need->tpu && need->is_limited_by_pool() ? " in the pool" : "");
    case DryRunOutcome::out_of_memory:
      return "out of memory: " + (run.tpu ? text_from_missing(*run.tpu) : "") + text_from_failure(*run.failure);
    case DryRunOutcome::failed:
      return "failed before its end, so it may need more: " +
             (run.failure ? fmt::format("{}: {}", printable(run.failure->type), text_from_failure(*run.failure))
                          : run.reason) +
             text_from_called_in_vain(run);
    case DryRunOutcome::unknown: break;
  }
  return "unknown: " + run.reason;
}

}  // namespace

std::uint64_t DeviceNeed::spare_bytes() const {
  return std::min(spare_of_pools(*this), spare_of_device(*this) + unused_in_pools(*this));
}

bool DeviceNeed::is_limited_by_pool() const {
  return spare_of_pools(*this) <= spare_of_device(*this) + unused_in_pools(*this);
}

const DeviceNeed* DryRun::fullest() const {
  const auto least = std::min_element(needs.begin(), needs.end(), [](const DeviceNeed& a, const DeviceNeed& b) {
    return a.spare_bytes() < b.spare_bytes();
  });
  return least == needs.end() ? nullptr : &*least;
}

std::span<const WhereField> dry_run_gate_fields() {
  static constexpr WhereField fields[] = {
      {"device", FieldKind::text, "the device", {}},
      {"peak", FieldKind::bytes, "all that processes took of it at one time", {}},
      {"total", FieldKind::bytes, "its memory", {}},
      {"margin", FieldKind::bytes, "what more would have fit", {}},
      {"growth_per_step", FieldKind::bytes, "the median growth of the bytes in use between marked steps", {}},
      {"outcome", FieldKind::text, "fits, out of memory, failed or unknown", {}},
      {"doubts", FieldKind::text, "what a verdict that fits does not prove: sizes, values, training", {}}};
  return fields;
}

Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const DryRun& run) {
  std::vector<GateSubject> subjects;
  for (const DeviceNeed& need : run.needs) {
    GateSubject& subject = subjects.emplace_back(run.machine.name_of_device(need.device));
    subject.set("device", subject.name());
    subject.set("peak", need.peak_bytes);
    subject.set("total", need.total_bytes);
    subject.set("margin", need.spare_bytes());
    if (run.trace && expression.find("growth") != std::string::npos)
      subject.set("growth_per_step", find_growth_per_step(*run.trace, static_cast<std::uint32_t>(need.device)));
    subject.set("outcome", std::string(word_for(run.outcome)));
    subject.set("doubts", fmt::format("{}", fmt::join(doubts_of(run.proof), " ")));
  }
  return find_gate_failure(expression, dry_run_gate_fields(), subjects);
}

std::string_view word_for(DryRunOutcome outcome) {
  switch (outcome) {
    case DryRunOutcome::fits: return "fits";
    case DryRunOutcome::out_of_memory: return "out of memory";
    case DryRunOutcome::failed: return "failed";
    case DryRunOutcome::unknown: break;
  }
  return "unknown";
}

std::string text_from_failure(const DryRunFailure& failure) {
  std::string text = first_line(failure.text);
  if (text.empty()) text = printable(failure.type);
  if (!failure.file.empty())
    text += fmt::format(
        " ({}{}:{})",
        failure.function.empty() || failure.function == "<module>" ? "" : printable(failure.function) + ", ",
        printable(fs::path(failure.file).filename().string()), failure.line);
  return text;
}

std::string text_from_assumptions(std::uint64_t context_bytes, bool has_rnn_estimates) {
  return fmt::format("Assumed: a context takes {}{}{}, and how the driver rounds requests. Not emulated: {}, {}.",
                     text_from_bytes(context_bytes), has_rnn_estimates ? ", " : "",
                     has_rnn_estimates ? rnn_estimates : "", not_emulated[0], not_emulated[1]);
}

namespace {

// What fits now and grows with each step won't, later.
std::string text_from_outlook_of(const DryRun& run) {
  if (run.outcome != DryRunOutcome::fits || run.trace == nullptr) return {};
  const HeapKey heap = choose_heap(*run.trace, {});
  if (heap.empty()) return {};
  const std::uint32_t device = run.trace->streams[heap.stream].definitions().heap(heap.heap).device;
  const auto need = std::find_if(run.needs.begin(), run.needs.end(),
                                 [&](const DeviceNeed& one) { return one.device == static_cast<int>(device); });
  const auto outlook =
      find_outlook(*run.trace, heap, need == run.needs.end() ? std::nullopt : std::optional(need->spare_bytes()));
  return outlook ? text_from_outlook(*outlook) + "\n" : std::string();
}

}  // namespace

std::string text_from_dry_run(const DryRun& run) {
  const DeviceNeed* need = run.fullest();
  std::string text = headline_of(run, need) + "\n" + text_from_outlook_of(run);
  if (run.tpu)
    return text + text_from_proof(run) + text_from_survived(run) + text_at_peak(run) + text_below_tpu_headline(run);
  if (need == nullptr) return text;
  if (run.outcome != DryRunOutcome::fits)
    text += fmt::format("Before that, on GPU {}: {}\n", need->device, text_from_need(run, *need));
  else if (run.needs.size() > 1)
    text += fmt::format("{}GPU {}, the fullest of {}.\n", figures_of, need->device, run.needs.size());
  return text + text_from_proof(run) + text_from_survived(run) + text_at_peak(run) +
         text_from_assumptions(need->context_bytes, run.has_rnn_estimates) + "\n";
}

}  // namespace hbmscope
