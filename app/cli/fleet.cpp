// hbmscope fleet: answers about a store of digests. The queries are SQL, which DuckDB answers in the user's own Python.
#include <fmt/format.h>

#include "analysis/units/utf8.h"
#include "app/cli/child_process.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/program_files.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

int run_fleet(const FleetOptions& options) {
  constexpr int python_without_duckdb = 3, nothing_in_store = 4;  // Exit codes of app/fleet/fleet.py.
  const std::filesystem::path folder = find_fleet_folder();
  if (folder.empty())
    return fail(refusal("the programs for stores are missing", "Install share/hbmscope/fleet next to hbmscope."));
  std::vector<std::string> words{options.python, folder / "fleet.py", options.store, "--top",
                                 std::to_string(options.top)};
  for (const auto& [name, value] : {std::pair("--run", options.run), std::pair("--baseline", options.baseline)})
    if (!value.empty()) words.insert(words.end(), {name, value});
  if (options.json) words.emplace_back("--json");
  const auto done = run_and_read(std::move(words));
  if (!done) return fail(done.error());
  if (done->exit_code == python_without_duckdb)
    return fail(refusal(
        fmt::format("the Python '{}' has no DuckDB, which answers the queries", printable(options.python)),
        fmt::format("Run {} -m pip install duckdb, or name another Python with --python.", printable(options.python))));
  if (!print_lines_to_stdout(done->text)) return exit_unreadable;
  return done->exit_code == 0 ? exit_ok : done->exit_code == nothing_in_store ? exit_usage : exit_unreadable;
}

}  // namespace hbmscope::cli
