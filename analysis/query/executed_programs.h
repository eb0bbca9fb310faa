// What the compiled programs of a JAX job need on each device, by their compiler's figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct ExecutedProgram {
  std::string name;
  std::uint64_t compiled = 0;  // How many programs of that name and with these figures.
  // In bytes. Outputs that are `aliased_bytes` take the place of donated arguments.
  std::uint64_t argument_bytes = 0, output_bytes = 0, aliased_bytes = 0, temporary_bytes = 0, code_bytes = 0;

  // While it runs, apart from its code.
  std::uint64_t needed_bytes() const { return argument_bytes + output_bytes - aliased_bytes + temporary_bytes; }
};

// One program of that name in the stream; nothing if its figures are unknown.
std::optional<ExecutedProgram> find_executed_program(const Definitions& definitions, std::string_view name);
// The programs that were executed, those that need most first: of all streams, or of one. Facts that can't be read are
// left out.
std::vector<ExecutedProgram> find_executed_programs(const Trace& trace);
std::vector<ExecutedProgram> find_executed_programs(const Definitions& definitions);

}  // namespace hbmscope
