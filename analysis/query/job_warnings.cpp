#include "analysis/query/job_warnings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "analysis/units/ascii.h"
#include "analysis/units/format.h"
#include "collector/wire/reported_names.h"
#include "collector/wire/reported_variables.h"

namespace hbmscope {
namespace {

constexpr std::string_view fraction_name = "XLA_CLIENT_MEM_FRACTION",
                           deprecated_fraction_name = "XLA_PYTHON_CLIENT_MEM_FRACTION",
                           allocator_name = "XLA_PYTHON_CLIENT_ALLOCATOR",
                           preallocate_name = "XLA_PYTHON_CLIENT_PREALLOCATE", unified_name = "TF_FORCE_UNIFIED_MEMORY",
                           collective_name = "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB";

constexpr std::string_view jax_refuses =
    "JAX refuses that: it does not load its CUDA plugin, and runs on the CPU unless JAX_PLATFORMS asks for a GPU.";

std::string shown(std::string_view value) {
  constexpr std::size_t bytes_max = 120;
  return value.size() <= bytes_max ? std::string(value) : std::string(value.substr(0, bytes_max)) + "...";
}

// As Python's float() and int(), without digits that are grouped by underscores.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  const auto is_space = [](char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct Words {
  std::string_view when, remedy;
};
Words words_about(wire::Reader reader) {
  switch (reader) {
    case wire::Reader::xla:
      return {"after JAX had read it", "Set it before JAX uses a device for the first time, best before `import jax`."};
    case wire::Reader::tensorflow: return {"after TensorFlow had made its pool", "Set it before `import tensorflow`."};
    case wire::Reader::torch: return {"after PyTorch had made its pool", "Set it before `import torch`."};
    default: return {"after the CUDA driver had been initialized", "Set it before the program imports a framework."};
  }
}

class Variables {
 public:
  explicit Variables(const std::vector<JobFact>& job) : job_(job) {}

  // The last value; empty if it is not set, which means the same to JAX.
  std::string_view in_force(std::string_view name) const { return last(wire::variable_facts, name).value_or(""); }
  // What it was set to too late, if that is not what is in force.
  std::optional<std::string_view> late(std::string_view name) const {
    const auto found = last(wire::late_variable_facts, name);
    const auto before = last(wire::variable_facts, name).value_or(wire::variable_not_set);
    return found == before ? std::nullopt : found;
  }

 private:
  std::optional<std::string_view> last(std::string_view prefix, std::string_view name) const {
    std::optional<std::string_view> found;
    for (const JobFact& fact : job_) {
      const std::string_view key = fact.key;
      if (key.starts_with(prefix) && key.substr(prefix.size()) == name) found = fact.value;
    }
    return found == wire::variable_not_set && prefix == wire::variable_facts ? std::nullopt : found;
  }

  const std::vector<JobFact>& job_;
};

class Warnings {
 public:
  void add(std::string_view kind, std::string_view variable, std::string text) {
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const JobWarning& one) { return one.text == text; });
    if (same != all_.end()) {
      ++same->processes;
      return;
    }
    const bool is_refused = text.find(jax_refuses) != std::string::npos;
    all_.push_back({std::string(kind), std::string(variable), std::move(text), 1, is_refused});
  }
  std::vector<JobWarning> take() { return std::move(all_); }

 private:
  std::vector<JobWarning> all_;
};

void find_late(const Variables& variables, Warnings& warnings) {
  for (const wire::ReportedVariable& variable : wire::reported_variables) {
    const auto late = variables.late(variable.name);
    if (!late) continue;
    const std::string_view before = variables.in_force(variable.name);
    const Words words = words_about(variable.reader);
    const std::string change = *late == wire::variable_not_set
                                   ? fmt::format("{} was removed", variable.name)
                                   : fmt::format("{}={} was set", variable.name, shown(*late));
    warnings.add(
        "set_too_late", variable.name,
        fmt::format("{} {} and has no effect in this process: {}. {}", change, words.when,
                    before.empty() ? std::string("it was not set before") : fmt::format("{} counts", shown(before)),
                    words.remedy));
  }
}

void check_fraction(std::string_view name, std::string_view value, const Variables& variables, Warnings& warnings) {
  constexpr double large = 0.95;
  const auto fraction = number_from<double>(value);
  if (!fraction)
    return warnings.add("bad_value", name, fmt::format("{}={} is not a number. {}", name, shown(value), jax_refuses));
  const std::string allocator = lower(variables.in_force(allocator_name));
  if (allocator == "platform" || allocator == "address" || allocator == "vmm") return;  // They have no pool to size.
  if (*fraction > 1 && variables.in_force(unified_name).empty())
    return warnings.add("bad_value", name,
                        fmt::format("{}={} is more than the whole device, so XLA gets a smaller pool than it requests: "
                                    "the value is a fraction, such as .9. More than 1 works with {}=1 only.",
                                    name, value, unified_name));
  if (!(*fraction > 0))
    return warnings.add("bad_value", name,
                        fmt::format("{}={} leaves XLA's pool no memory: set a fraction of the device's memory, such as "
                                    ".75, the default.",
                                    name, value));
  if (*fraction >= large && *fraction <= 1)
    warnings.add("large_fraction", name,
                 fmt::format("{}={} leaves {:.3g} % of the device for everything outside of XLA's pool: the CUDA "
                             "context, loaded code, and the workspaces of cuBLAS, cuDNN and NCCL. If one of them fails "
                             "for lack of memory, set .9 or less.",
                             name, value, (1 - *fraction) * 100));
}

void check_allocator(const Variables& variables, Warnings& warnings) {
  const std::string_view value = variables.in_force(allocator_name);
  constexpr std::string_view known[] = {"default", "platform", "bfc", "cuda_async", "vmm", "address"};
  if (value.empty() || std::find(std::begin(known), std::end(known), lower(value)) != std::end(known)) return;
  warnings.add("bad_value", allocator_name,
               fmt::format("{}={} names no allocator. {} Use default, bfc, platform or cuda_async.", allocator_name,
                           shown(value), jax_refuses));
}

// Words that mean "no" to a person and "yes" to JAX.
void check_preallocation(const Variables& variables, Warnings& warnings) {
  const std::string_view value = variables.in_force(preallocate_name);
  if (value == "false" || value == "False" || value == "0") return;
  constexpr std::string_view negations[] = {"false", "no", "off", "none", "n", "f", "0.0", "disabled"};
  if (std::find(std::begin(negations), std::end(negations), lower(value)) == std::end(negations)) return;
  warnings.add("bad_value", preallocate_name,
               fmt::format("{0}={1} means true to JAX, which takes its whole pool at once: set {0}=false.",
                           preallocate_name, value));
}

void check_collective(const Variables& variables, Warnings& warnings) {
  const std::string_view value = variables.in_force(collective_name);
  if (value.empty() || number_from<long long>(value)) return;
  warnings.add("bad_value", collective_name,
               fmt::format("{}={} is not a whole number of MiB. {}", collective_name, shown(value), jax_refuses));
}

void check(const Variables& variables, Warnings& warnings) {
  find_late(variables, warnings);
  const std::string_view fraction = variables.in_force(fraction_name),
                         deprecated = variables.in_force(deprecated_fraction_name);
  if (!fraction.empty() && !deprecated.empty())
    warnings.add(
        "both_fractions", deprecated_fraction_name,
        fmt::format("{}={} and {}={} are both set. {} Remove {}, which is deprecated.", fraction_name, shown(fraction),
                    deprecated_fraction_name, shown(deprecated), jax_refuses, deprecated_fraction_name));
  else if (!fraction.empty())
    check_fraction(fraction_name, fraction, variables, warnings);
  else if (!deprecated.empty())
    check_fraction(deprecated_fraction_name, deprecated, variables, warnings);
  check_allocator(variables, warnings);
  check_preallocation(variables, warnings);
  check_collective(variables, warnings);
}

}  // namespace

std::vector<JobWarning> find_job_warnings(const Trace& trace) {
  Warnings warnings;
  for (const Stream& stream : trace.streams) check(Variables(stream.definitions().job()), warnings);
  return warnings.take();
}

std::vector<JobWarning> find_environment_warnings(const char* (*value_of)(const char* variable)) {
  std::vector<JobFact> facts;
  for (const wire::ReportedVariable& variable : wire::reported_variables)
    if (const char* value = value_of(variable.name))
      facts.push_back({std::string(wire::variable_facts) + variable.name, value});
  Warnings warnings;
  check(Variables(facts), warnings);
  return warnings.take();
}

std::string text_from_warning(const JobWarning& warning) {
  return warning.processes < 2 ? warning.text
                               : fmt::format("{} ({} processes)", warning.text, text_from_count(warning.processes));
}

}  // namespace hbmscope
