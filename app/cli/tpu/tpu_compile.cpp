// hbmscope tpu compile: runs the real compiler in the user's own Python, without a TPU.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/document/json.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/source/read_source.h"
#include "analysis/read/tpu_oom/read_tpu_oom.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_trace.h"
#include "analysis/write/recording.h"
#include "app/cli/cli.h"
#include "app/cli/export/output_file.h"
#include "app/cli/jobs/child_process.h"
#include "app/cli/load.h"
#include "app/cli/temporary_folder.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu/tpu.h"
#include "app/cli/tpu/tpu_compile_driver.h"
#include "app/cli/tpu/tpu_fit.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;
using Json = nlohmann::ordered_json;

volatile std::sig_atomic_t cancelling_signal = 0;

// During its lifetime, signals that end a program are noted instead, so that child processes and files are cleaned up.
class CancelBySignal {
 public:
  CancelBySignal() {
    cancelling_signal = 0;
    struct sigaction action = {};
    action.sa_handler = [](int signal) { cancelling_signal = signal; };
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], nullptr, &before_[i]);
      // Keeps signals ignored that nohup ignores.
      if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
  }
  ~CancelBySignal() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  CancelBySignal(const CancelBySignal&) = delete;
  CancelBySignal& operator=(const CancelBySignal&) = delete;

 private:
  static constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_;
};

// Waits for the process. A signal noted by CancelBySignal ends the process after at most one second.
int wait_for(pid_t pid) {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause(10);
  constexpr std::chrono::seconds patience(1);
  std::optional<steady_clock::time_point> cancelled_at;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return status;
    if (cancelling_signal != 0 && !cancelled_at) {
      kill(pid, SIGTERM);
      cancelled_at = steady_clock::now();
    } else if (cancelled_at && steady_clock::now() - *cancelled_at > patience) {
      kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(pause);
  }
}

// Runs the command and waits for it; its output goes to standard error. Errors: it can't be started, or it was
// cancelled.
Result<int> run_command(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Failure(refusal(fmt::format("cannot start '{}': {}", printable(words[0]), strerror(failed)),
                           "Name a Python that has jax and libtpu with --python."));
  const int status = wait_for(pid);
  if (cancelling_signal != 0) return Failure(refusal("cancelled", {}));
  return exit_code_from(status);
}

// The driver's answer for one topology.
Result<Json> ask_compiler(const TpuCompileOptions& options, const std::string& topology, const std::string& dump,
                          const std::string& answer) {
  const std::size_t colon = options.target.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == options.target.size())
    return Failure(
        refusal(fmt::format("'{}' is not a function of a script", printable(options.target)), "Write SCRIPT.py:NAME."));
  const std::string script = options.target.substr(0, colon);
  std::error_code error;
  if (!std::filesystem::is_regular_file(script, error))
    return Failure(refusal("there is no such script", "Write SCRIPT.py:NAME.", script));
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "compiling for {} ...\n", printable(topology));
  const auto code = run_command(
      {options.python, "-c", tpu_compile_driver, script, options.target.substr(colon + 1), topology, dump, answer});
  if (!code) return Failure(code.error());
  std::ifstream file(answer, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto json = Json::parse(text, nullptr, false);
  if (*code != 0 || json.is_discarded() || !json.is_object())
    return Failure(refusal(fmt::format("the compiler exited with code {} and without a result", *code),
                           "Its messages are above."));
  return json;
}

// Each line unchanged, except for control characters.
std::string lines_of(const std::string& text, const std::string& indent = {}) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += indent + printable(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return lines;
}

// Python's output is printed to standard error before the error.
Error refusal_of(const Json& answer, const std::string& topology) {
  const std::string text = answer.value("text", ""), what = answer.value("refused", "compile");
  if (answer.contains("missing"))
    return refusal(fmt::format("this Python has no {} ({})", answer["missing"].get<std::string>(), printable(text)),
                   "pip install \"jax==0.10.2\" \"libtpu==0.0.51\" on x86-64 Linux (no TPU is needed), or use another "
                   "Python with --python.");
  if (what == "topology")
    return refusal(fmt::format("there is no topology '{}': {}", printable(topology), printable(text)),
                   fmt::format("Known: {} and larger ones.", allocator::tpu::text_from_topologies()));
  std::fputs(lines_of(answer.value("traceback", "")).c_str(), stderr);
  return refusal(fmt::format("the {} failed: {}", what == "compile" ? "compiler" : "script",
                             printable(text.substr(0, text.find('\n')))),
                 "The function takes nothing and returns a jax.stages.Lowered, or (function, args, kwargs) of "
                 "jax.ShapeDtypeStruct.");
}

std::optional<std::uint64_t> usable_of(const std::string& topology) {
  const tpu::Generation* generation = tpu::find_generation(topology.substr(0, topology.find(':')));
  return generation != nullptr ? std::optional(generation->hbm_usable.value) : std::nullopt;
}

struct Compiled {
  std::string topology;
  std::optional<Fit> fit;  // Nothing if it does not fit; `failure` says why.
  std::string failure;     // The compiler's text.
  Json memory;             // The compiler's figures.
  Json failures;           // The same objects as in other JSON output.
  FitRow row;
};

// `answer` must have "memory".
Result<Compiled> read_compiled(const std::string& topology, const Json& answer, const std::string& dump,
                               const TpuCompileOptions& options) {
  const auto files = find_dumps_in_folder(dump);
  if (!files) return Failure(files.error());
  Compiled compiled{topology, std::nullopt, {}, answer["memory"], Json::array(), {}};
  // The dump also has small modules (constants, random numbers). The program is the one that needs the most memory.
  for (const std::string& file : *files) {
    auto fit = fit_of(file, options.max_size);
    if (fit && (!compiled.fit || fit->needed > compiled.fit->needed)) compiled.fit = std::move(*fit);
  }
  if (!compiled.fit)
    return Failure(refusal("the compiler's dump does not have the memory of a program", "This libtpu may be too new."));
  const auto bytes = [&](const char* key) { return compiled.memory.value(key, std::uint64_t{0}); };
  compiled.fit->program.argument_bytes = bytes("argument");
  compiled.fit->program.output_bytes = bytes("output");
  compiled.fit->program.alias_bytes = bytes("alias");
  compiled.fit->program.temp_bytes = bytes("temp");
  compiled.fit->code_bytes = bytes("generated_code");
  compiled.fit->needed = compiled.fit->program.needed_without_code_bytes().value_or(0) + *compiled.fit->code_bytes;
  if (const auto usable = usable_of(topology)) compiled.row = fit_row_of(*compiled.fit, topology, *usable);
  compiled.row.target = topology;
  compiled.row.needed_bytes = compiled.fit->needed;
  compiled.row.fits = true;  // The compiler knows better than a table of limits.
  compiled.row.headline = "fits";
  compiled.row.advice.clear();
  return compiled;
}

// For a refused program: what the compiler's text and the function's arguments say.
Compiled read_refusal(const std::string& topology, const Json& answer) {
  Compiled compiled{topology, std::nullopt, answer.value("text", ""), {}, Json::array(), {}};
  FitRow& row = compiled.row;
  row.target = topology;
  row.usable_bytes = usable_of(topology);
  row.headline = row.room = "does not fit";
  const std::string& text = compiled.failure;
  const auto trace = read_tpu_oom(text, "compiler");
  if (!trace) return compiled;
  const auto failures = compute_failure_rows(*trace);
  compiled.failures = json_from_failure_rows(failures);
  if (failures.empty() || !failures.front().limit_bytes) return compiled;
  const auto& failure = failures.front();
  const std::int64_t spare = signed_from(*failure.limit_bytes) - signed_from(failure.requested_bytes);
  row.room = text_from_spare(spare);
  if (failure.memory_space != "hbm") {
    row.room += " of " + printable(failure.memory_space);
    return compiled;
  }
  row.needed_bytes = failure.requested_bytes;
  row.spare_bytes = spare;
  ProgramNeed need{failure.requested_bytes, *failure.limit_bytes, {}, {}, true};
  const Json figures = answer.value("figures", Json());
  if (figures.is_object()) {
    const auto bytes = [&](const char* key) { return figures.value(key, std::uint64_t{0}); };
    need.donatable_bytes = bytes("donatable");
    need.is_donatable_from_compiler = false;
    const std::uint64_t kept = bytes("argument") + bytes("output");
    if (kept < need.needed_bytes) need.temp_bytes = need.needed_bytes - kept;
  }
  row.advice = advise_on_program(need);
  return compiled;
}

// One row for each topology.
Table describe_compiled(const std::vector<Compiled>& all) {
  Table table{.columns = {{.key = "topology", .title = "Device"},
                          {.key = "fits", .unit = Unit::flag},
                          {.key = "name"},
                          {.key = "argument_bytes", .title = "Argument", .unit = Unit::bytes},
                          {.key = "output_bytes", .title = "Output", .unit = Unit::bytes},
                          {.key = "alias_bytes", .title = "Alias", .unit = Unit::bytes},
                          {.key = "temp_bytes", .title = "Temp", .unit = Unit::bytes},
                          {.key = "generated_code_bytes", .title = "Code", .unit = Unit::bytes},
                          {.key = "host_temp_bytes", .unit = Unit::bytes},
                          {.key = "needed_bytes", .title = "Needed", .unit = Unit::bytes},
                          {.key = "usable_bytes", .title = "Usable", .unit = Unit::bytes},
                          {.key = "spare_bytes", .unit = Unit::bytes},
                          {.title = "Verdict"}},
              .shown = all.size()};
  std::vector<std::vector<Value>> rows;
  for (const Compiled& compiled : all) {
    const auto bytes = [&](const char* key) {
      return compiled.fit ? Value(compiled.memory.value(key, std::uint64_t{0})) : Value();
    };
    const FitRow& row = compiled.row;
    rows.push_back({valid_utf8(compiled.topology), compiled.fit.has_value(),
                    compiled.fit ? value_of(valid_utf8(compiled.fit->program.name)) : Value(), bytes("argument"),
                    bytes("output"), bytes("alias"), bytes("temp"), bytes("generated_code"), bytes("host_temp"),
                    value_of(row.needed_bytes), value_of(row.usable_bytes), value_of(row.spare_bytes), row.room});
  }
  table.rows = std::move(rows);
  table.cell_tone = [cells = table.rows](std::size_t row, std::size_t column) {
    return column < 12 ? Tone::plain : cells.cell(row, 1) == Value(true) ? Tone::good : Tone::bad;
  };
  return table;
}

std::string text_of(const std::vector<Compiled>& all) {
  std::vector<FitRow> rows;
  std::string name, refusals;
  for (const Compiled& compiled : all) {
    rows.push_back(compiled.row);
    if (compiled.fit && name.empty()) name = compiled.fit->program.name;
    if (!compiled.fit)
      refusals += fmt::format("\n{} does not fit:\n{}", printable(compiled.topology), lines_of(compiled.failure, "  "));
  }
  Document document{.title = (name.empty() ? "the program" : name) + ", according to the compiler"};
  document.add(describe_compiled(all));
  add_advice(rows, document);
  return text_from_document(document, Terminal::of_stdout().style()) + refusals;
}

Json json_of(const std::vector<Compiled>& all) {
  Json rows = json_from_table(describe_compiled(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    rows[i]["advice"] = json_from_table(describe_advice(all[i].row.advice));
    rows[i]["failures"] = all[i].failures;
    if (!all[i].fit) rows[i]["text"] = valid_utf8(all[i].failure);
  }
  return {{"schema", json_schema}, {"compiled", std::move(rows)}};
}

// Includes the size of the code, which is not in the dump.
Result<void> record(const Fit& fit, const TpuCompileOptions& options) {
  const auto dump = read_file(fit.file, SourceOptions{}.max_inflated_bytes);
  if (!dump) return Failure(dump.error());
  const auto trace = read_hlo(dump->bytes(), fit.file, nullptr, {{}, fit.code_bytes});
  if (!trace) return Failure(trace.error());
  const auto written = write_recording(*trace, options.record);
  if (!written) return Failure(written.error());
  return {};
}

Result<Compiled> compile_for(const TpuCompileOptions& options, const std::string& topology) {
  const auto workplace = TemporaryFolder::make("compile");
  if (!workplace) return Failure(workplace.error());
  const std::string dump = (*workplace)->path() + "/dump", answer_file = (*workplace)->path() + "/answer.json";
  const auto answer = ask_compiler(options, topology, dump, answer_file);
  if (!answer) return Failure(answer.error());
  if (answer->value("refused", "") == "memory") return read_refusal(topology, *answer);
  if (!answer->contains("memory")) return Failure(refusal_of(*answer, topology));
  auto compiled = read_compiled(topology, *answer, dump, options);
  if (compiled && !options.record.empty())
    if (auto recorded = record(*compiled->fit, options); !recorded) return Failure(recorded.error());
  return compiled;
}

}  // namespace

int run_tpu_compile(const TpuCompileOptions& options) {
  if (options.topologies.size() > 1 && !options.record.empty())
    return fail(refusal("--record takes one topology", "Use one --topology."));
  const std::string script = options.target.substr(0, options.target.rfind(':'));
  if (auto allowed = check_output({script}, options.record); !allowed) return fail(allowed.error());
  const CancelBySignal cancel;
  std::vector<Compiled> all;
  for (const std::string& topology : options.topologies) {
    auto compiled = compile_for(options, canonical_topology(topology));
    if (cancelling_signal != 0) {
      say("cancelled");
      return 128 + cancelling_signal;  // As in a shell.
    }
    if (!compiled) return fail(compiled.error());
    all.push_back(std::move(*compiled));
  }
  return print_to_stdout(options.json ? text_from_json(json_of(all)) : text_of(all)) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
