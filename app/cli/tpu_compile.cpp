// hbmscope tpu compile: the real compiler, in the person's own Python, with no TPU.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/source/read_source.h"
#include "analysis/read/tpu_oom/read_tpu_oom.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "analysis/write/json_trace.h"
#include "analysis/write/recording.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/output_file.h"
#include "app/cli/tpu.h"
#include "app/cli/tpu_compile_driver.h"
#include "app/cli/tpu_fit.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;
using Json = nlohmann::ordered_json;

Error error_of(std::string what, std::string remedy) {
  return {std::move(what), std::move(remedy), {}, {}, false};
}

// A folder for the dump, gone with all that is in it.
class Workplace {
 public:
  Workplace() {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / "hbmscope-compile-XXXXXX").string();
    if (const char* made = mkdtemp(pattern.data())) path_ = made;
  }
  ~Workplace() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Waits for the command; what it prints goes to standard error. Ctrl-C ends it, and this goes on to clean up. Errors:
// it can't be started.
Result<int> run_command(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const auto before = std::signal(SIGINT, SIG_IGN);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  while (failed == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, before);
  if (failed != 0)
    return Failure(error_of(fmt::format("'{}' can't be started: {}", printable(words[0]), strerror(failed)),
                            "--python names the Python that has jax and libtpu."));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// What the driver says of one topology.
Result<Json> ask_compiler(const TpuCompileOptions& options, const std::string& topology, const std::string& dump,
                          const std::string& answer) {
  const std::size_t colon = options.target.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == options.target.size())
    return Failure(error_of(fmt::format("'{}' names no function of a script", printable(options.target)),
                            "Write SCRIPT.py:name."));
  const std::string script = options.target.substr(0, colon);
  std::error_code error;
  if (!std::filesystem::is_regular_file(script, error))
    return Failure(Error{"there is no such script", "Write SCRIPT.py:name.", script, {}, false});
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "compiling for {} ...\n", printable(topology));
  const auto code = run_command(
      {options.python, "-c", tpu_compile_driver, script, options.target.substr(colon + 1), topology, dump, answer});
  if (!code) return Failure(code.error());
  std::ifstream file(answer, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto json = Json::parse(text, nullptr, false);
  if (*code != 0 || json.is_discarded() || !json.is_object())
    return Failure(error_of(fmt::format("the compiler ended with code {} and without an answer", *code),
                            "What it printed stands above."));
  return json;
}

Error refusal_of(const Json& answer, const std::string& topology) {
  const std::string text = answer.value("text", "");
  if (answer.contains("missing"))
    return error_of(fmt::format("this Python has no {} ({})", answer["missing"].get<std::string>(), printable(text)),
                    "pip install \"jax==0.10.2\" \"libtpu==0.0.51\" on x86-64 Linux, no TPU needed; --python names "
                    "another Python.");
  const std::string what = answer.value("refused", "compile");
  if (what == "topology")
    return error_of(fmt::format("there is no topology '{}': {}", printable(topology), printable(text)),
                    "Known: v2:1x1, v3:2x2, v4:2x2x1, v5e:2x2, v5p:2x2x1, v6e:2x2, tpu7x:2x2x1 and larger ones.");
  return error_of(
      fmt::format("the {} failed: {}", what == "script" || what == "function" ? "script" : "compiler", printable(text)),
      "The function takes nothing and returns a jax.stages.Lowered, or (function, args, kwargs) of "
      "jax.ShapeDtypeStruct.");
}

const tpu::Generation* generation_of(const std::string& topology) {
  return tpu::find_generation(topology.substr(0, topology.find(':')));
}

struct Compiled {
  std::string topology;
  std::optional<Fit> fit;  // Nothing: it does not fit, and `failure` says why.
  std::string failure;     // The compiler's text.
  Json memory;             // The compiler's own figures.
};

// `answer` has "memory".
Result<Compiled> read_compiled(const std::string& topology, const Json& answer, const std::string& dump,
                               const TpuCompileOptions& options) {
  const auto files = find_dumps_in_folder(dump);
  if (!files) return Failure(files.error());
  Compiled compiled{topology, std::nullopt, {}, answer["memory"]};
  // Small modules come along (constants, random numbers): the program is the one that needs the most.
  for (const std::string& file : *files) {
    auto fit = fit_of(file, options.max_size);
    if (fit && (!compiled.fit || fit->needed > compiled.fit->needed)) compiled.fit = std::move(*fit);
  }
  if (!compiled.fit) return Failure(error_of("the compiler's dump tells no program's memory", "Is this libtpu newer?"));
  const auto bytes = [&](const char* key) { return compiled.memory.value(key, std::uint64_t{0}); };
  compiled.fit->program.argument_bytes = bytes("argument");
  compiled.fit->program.output_bytes = bytes("output");
  compiled.fit->program.alias_bytes = bytes("alias");
  compiled.fit->program.temp_bytes = bytes("temp");
  compiled.fit->code_bytes = bytes("generated_code");
  compiled.fit->needed = compiled.fit->program.needed_without_code_bytes().value_or(0) + *compiled.fit->code_bytes;
  return compiled;
}

std::string text_of(const Compiled& compiled, const Terminal& terminal) {
  std::string text = terminal.paint(printable(compiled.topology), Ink::bold);
  if (!compiled.fit) return text + terminal.paint(" does not fit", Ink::bad) + " because\n" + compiled.failure + "\n";
  const Fit& fit = *compiled.fit;
  const auto row = [&](const char* name, std::uint64_t bytes, const std::string& note = {}) {
    text += pad_right(name, 14) + pad_left(text_from_bytes(bytes), 10) + (note.empty() ? "" : "  " + note) + "\n";
  };
  text += fmt::format(": {}, as the compiler has it\n", printable(fit.program.name));
  row("argument", *fit.program.argument_bytes);
  row("output", *fit.program.output_bytes);
  row("alias", *fit.program.alias_bytes);
  row("temp", *fit.program.temp_bytes);
  row("code", *fit.code_bytes);
  std::string note;
  if (const tpu::Generation* generation = generation_of(compiled.topology)) {
    const std::uint64_t usable = generation->hbm_usable.value;
    const bool fits = fit.needed <= usable;
    note = terminal.paint(fmt::format("{} {}", text_from_bytes(fits ? usable - fit.needed : fit.needed - usable),
                                      fits ? "to spare" : "over"),
                          fits ? Ink::good : Ink::bad);
  }
  row("needed", fit.needed, note);
  return text;
}

Json json_of(const Compiled& compiled) {
  const tpu::Generation* generation = generation_of(compiled.topology);
  Json json = {{"topology", valid_utf8(compiled.topology)}, {"fits", compiled.fit.has_value()}};
  json["name"] = compiled.fit ? or_null(valid_utf8(compiled.fit->program.name)) : Json(nullptr);
  for (const char* key : {"argument", "output", "alias", "temp", "generated_code", "host_temp"})
    json[fmt::format("{}_bytes", key)] =
        compiled.fit ? Json(compiled.memory.value(key, std::uint64_t{0})) : Json(nullptr);
  json["needed_bytes"] = compiled.fit ? Json(compiled.fit->needed) : Json(nullptr);
  json["usable_bytes"] = generation != nullptr ? Json(generation->hbm_usable.value) : Json(nullptr);
  json["failures"] = Json::array();
  if (compiled.fit) return json;
  const std::string& text = compiled.failure;
  const auto trace = read_tpu_oom({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "compiler");
  if (trace) json["failures"] = json_from_failure_rows(compute_failure_rows(*trace));
  json["text"] = valid_utf8(text);
  return json;
}

// With the size of the code, which the dump does not tell.
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
  const Workplace workplace;
  if (workplace.path().empty())
    return Failure(error_of("there is no folder for the compiler's dump", "Set TMPDIR to one with some space."));
  const std::string dump = workplace.path() + "/dump", answer_file = workplace.path() + "/answer.json";
  const auto answer = ask_compiler(options, topology, dump, answer_file);
  if (!answer) return Failure(answer.error());
  if (answer->value("refused", "") == "memory") return Compiled{topology, std::nullopt, answer->value("text", ""), {}};
  if (!answer->contains("memory")) return Failure(refusal_of(*answer, topology));
  auto compiled = read_compiled(topology, *answer, dump, options);
  if (compiled && !options.record.empty())
    if (auto recorded = record(*compiled->fit, options); !recorded) return Failure(recorded.error());
  return compiled;
}

}  // namespace

int run_tpu_compile(const TpuCompileOptions& options) {
  if (options.topologies.size() > 1 && !options.record.empty())
    return fail(error_of("one recording of several topologies", "Name one --topology with --record."));
  const std::string script = options.target.substr(0, options.target.rfind(':'));
  if (auto allowed = check_output({script}, options.record); !allowed) return fail(allowed.error());
  const Terminal terminal = Terminal::of_stdout();
  std::string text;
  Json json = {{"schema", json_schema}, {"compiled", Json::array()}};
  for (const std::string& topology : options.topologies) {
    const auto compiled = compile_for(options, topology);
    if (!compiled) return fail(compiled.error());
    text += (text.empty() ? "" : "\n") + text_of(*compiled, terminal);
    json["compiled"].push_back(json_of(*compiled));
  }
  return print_to_stdout(options.json ? text_from_json(json) : text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
