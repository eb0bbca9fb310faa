#include "analysis/diagnose/program_advice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/query/executed_programs.h"
#include "analysis/query/workload_verdict.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// The words of that row, and the figures: "sharding over more devices: 3 times as many, ..."
Advice advice_with(std::string_view key, std::string_view figures, AdviceProof proof) {
  const AdviceRow& row = advice_row(key);
  return {fmt::format("{}: {}", row.change, figures), std::string(row.why), std::string(row.price), proof,
          std::string(key)};
}

// The one whose temporaries are what was requested.
std::optional<ExecutedProgram> find_program_of_request(const AdviceFacts& facts) {
  const std::uint64_t requested = facts.failed.figures.requested_bytes;
  if (requested == 0) return std::nullopt;
  const std::vector<ExecutedProgram> all = find_executed_programs(facts.stream.definitions());
  const auto found = std::find_if(all.begin(), all.end(), [&](const ExecutedProgram& one) {
    return one.temporary_bytes <= requested && requested - one.temporary_bytes < 1024;  // XLA aligns them.
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

bool fill_program_temporaries(const AdviceFacts& facts, Advice& advice) {
  const auto program = find_program_of_request(facts);
  if (!program) return false;
  advice.why = fmt::format(
      "The request is for all temporaries of {}: what it keeps from its forward to its backward pass, and between its "
      "operations. It also has {} of arguments and {} of outputs.",
      program->name, text_from_bytes(program->argument_bytes),
      text_from_bytes(program->output_bytes - program->aliased_bytes));
  return true;
}

bool fill_program_donation(const AdviceFacts& facts, Advice& advice) {
  const auto program = find_program_of_request(facts);
  if (!program) return false;
  constexpr std::uint64_t part = 50;
  const std::uint64_t most = std::min(program->output_bytes, program->argument_bytes),
                      more = most - std::min(most, program->aliased_bytes);
  if (more < program->needed_bytes() / part) return false;
  advice.why = fmt::format("Up to {} of what {} returns could take the place of arguments that it replaces.",
                           text_from_bytes(more), program->name);
  return true;
}

std::vector<Advice> advise_on_program(const ProgramNeed& need) {
  std::vector<Advice> found;
  const std::int64_t over = signed_from(need.needed_bytes) - signed_from(need.usable_bytes);
  if (over <= 0 || need.usable_bytes == 0) return found;
  const auto add = [&](std::string_view key, std::string_view figures, AdviceProof proof, bool suffices,
                       std::optional<std::int64_t> spare) {
    Advice& advice = found.emplace_back(advice_with(key, figures, proof));
    advice.suffices = suffices;
    advice.spare_bytes = spare;
  };
  if (need.donatable_bytes.value_or(0) > 0) {
    const std::int64_t spare = signed_from(*need.donatable_bytes) - over;
    add("donation",
        fmt::format("{}, {}{}", text_from_bytes(*need.donatable_bytes), spare >= 0 ? "" : "still ",
                    text_from_spare(spare)),
        need.is_donatable_from_compiler ? AdviceProof::compiler : AdviceProof::assumed, spare >= 0, spare);
  }
  if (need.temp_bytes.value_or(0) > 0) {
    const std::int64_t temp = signed_from(*need.temp_bytes), spare = temp - over;
    if (spare >= 0)
      add("temporaries",
          fmt::format("{} less of temporaries, {} of their {}", text_from_bytes(over), text_from_share(over, temp),
                      text_from_bytes(temp)),
          AdviceProof::assumed, true, std::nullopt);
    else
      add("temporaries",
          fmt::format("without all {} of temporaries still {}", text_from_bytes(temp), text_from_spare(spare)),
          AdviceProof::assumed, false, spare);
  }
  const std::uint64_t devices = (need.needed_bytes + need.usable_bytes - 1) / need.usable_bytes;
  const std::uint64_t share = (need.needed_bytes + devices - 1) / devices;
  const std::int64_t spare = signed_from(need.usable_bytes) - signed_from(share);
  add("devices",
      fmt::format("{} times as many, if everything divides evenly among them (assumed): {}", text_from_count(devices),
                  text_from_spare(spare)),
      AdviceProof::assumed, true, spare);
  std::stable_partition(found.begin(), found.end(), [](const Advice& each) { return each.suffices; });
  return found;
}

std::vector<Advice> advise_on_use(const DeviceUse& use) {
  std::vector<std::pair<std::uint64_t, Advice>> found;
  const auto add = [&](std::uint64_t bytes, Advice advice) {
    if (bytes > 0 && bytes >= use.device_bytes / 50) found.emplace_back(bytes, std::move(advice));
  };
  const auto figures = [](std::string_view words, std::uint64_t bytes) {
    return fmt::format("{} {}", text_from_bytes(bytes), words);
  };
  add(use.temporary_bytes,
      advice_with("temporaries",
                  figures(use.are_with_code ? "of temporaries and code" : "of temporaries", use.temporary_bytes),
                  AdviceProof::compiler));
  add(use.donatable_bytes, advice_with("donation", text_from_bytes(use.donatable_bytes), AdviceProof::compiler));
  add(use.kept_argument_bytes,
      advice_with("devices", figures("of arguments are kept, or need less in a smaller type", use.kept_argument_bytes),
                  AdviceProof::compiler));
  add(use.unused_bytes,
      {fmt::format("deleting {} of arrays that the program in progress didn't use", text_from_bytes(use.unused_bytes)),
       "They are in memory while it runs.", "", AdviceProof::compiler, "unused"});
  add(use.padding_bytes, advice_with("padding", figures("is padding", use.padding_bytes), AdviceProof::compiler));
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Advice> advice;
  for (auto& [bytes, one] : found) advice.push_back(std::move(one));
  if (!use.larger_generations.empty())
    advice.push_back(
        {fmt::format("chips with more memory: {} (add them to --emulate to compare)", use.larger_generations),
         "A device of these has room for all of it.", "", AdviceProof::computed, "generation"});
  return advice;
}

}  // namespace hbmscope
