// The results of `replay`, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "allocator/reference/replay/check.h"
#include "allocator/reference/replay/player.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

struct ReplayAnswers {
  std::string file;
  allocator::StreamConfig config;
  allocator::AllocatorOptions options;
  std::optional<allocator::ReplayResult> result;  // Absent with --check.
  std::optional<allocator::CheckResult> check;
  std::optional<allocator::ReplaySpeed> speed;
};

std::string text_from_replay(const ReplayAnswers& answers, const Terminal& terminal);
nlohmann::ordered_json json_from_replay(const ReplayAnswers& answers);
// The keys "cause" and "cause_title": the verdict of the replay in the words of the causes, or null.
void add_cause(const allocator::ReplayFailure& failure, nlohmann::ordered_json& json);

}  // namespace hbmscope::cli
