// What `replay` plays, and into which allocator, from the file and the options.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/catalog/jax_plugin_options.h"
#include "allocator/reference/replay/request_stream.h"
#include "analysis/model/result.h"
#include "analysis/trace/trace.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

struct ReplayPlan {
  allocator::RequestStream stream;
  allocator::AllocatorOptions options;
  std::vector<std::string> notes;      // For stderr.
  std::shared_ptr<const Trace> trace;  // The source of the requests. Null means a stream of requests.
  std::size_t trace_stream = 0;
  allocator::RecordedPlaces places;  // The addresses at which the trace served the requests.
};

// Errors: options that do not apply, settings that JAX or PyTorch would refuse, an unreadable file.
Result<ReplayPlan> make_replay_plan(const ReplayOptions& options);
std::string file_name_of(const ReplayOptions& options);

// Parses NAME=VALUE texts. Error: an invalid text.
Result<std::vector<allocator::Setting>> settings_from(const std::vector<std::string>& texts);

}  // namespace hbmscope::cli
