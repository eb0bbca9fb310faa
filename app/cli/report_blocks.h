// hbmscope report --blocks and --address: the live blocks of a moment one by one, and what an address holds and held.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace hbmscope::cli {

struct ReportOptions;

struct BlockReportOptions {
  std::optional<std::size_t> rows;  // --blocks N; 0: all.
  std::string order = "size";
  bool is_ascending = false;
  std::string address;  // --address; empty: not asked for.
};
void add_block_options(CLI::App& command, BlockReportOptions& options);

// The exit code. Instead of the rest of the report.
int run_report_blocks(const ReportOptions& options);

}  // namespace hbmscope::cli
