// The far end of a line: carries the link between an observer of this machine and standard input and output, so that
// nothing listens on a network. Of a job whose output is kept in files it carries that too, in frames of its own
// between the observer's (collector/link/link.h), each from where the reader says that it had come to.
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::cli {

struct RelayOptions {
  std::string job;                                 // The number of an observer, or of a process that it observes.
  std::string output;                              // A folder with stdout.txt and stderr.txt; empty: none is wanted.
  std::uint64_t output_from = 0, errors_from = 0;  // Bytes.
};
// Until either side hangs up. exit_ok: the observer did.
int run_relay(const RelayOptions& options);

}  // namespace hbmscope::cli
