// The remote end of a connection: carries the link between a local observer and standard input and output, so that
// nothing has to listen on a network. If a job's output is kept in files, the relay carries that too, in its own frames
// between the observer's frames (collector/link/link.h), starting at the positions given by the reader.
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::cli {

struct RelayOptions {
  std::string job;  // The process id of an observer, or of a process that it observes.
  // A folder with stdout.txt and stderr.txt. Empty if no output is requested.
  std::string output;
  std::uint64_t output_from = 0, errors_from = 0;  // Bytes.
};
// Runs until either side closes the link. exit_ok: the observer did.
int run_relay(const RelayOptions& options);

}  // namespace hbmscope::cli
