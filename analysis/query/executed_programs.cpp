#include "analysis/query/executed_programs.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t bytes_max = std::uint64_t{1} << 50;  // A file may say anything.

std::optional<std::uint64_t> find_figure(std::string_view words, std::string_view name) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string_view word = words.substr(at, end - at);
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
      std::uint64_t bytes = 0;
      const char* const last = word.data() + word.size();
      const auto read = std::from_chars(word.data() + name.size() + 1, last, bytes);
      return read.ec == std::errc() && read.ptr == last && bytes <= bytes_max ? std::optional(bytes) : std::nullopt;
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::optional<ExecutedProgram> program_from(const JobFact& fact) {
  const auto arguments = find_figure(fact.value, "arguments"), outputs = find_figure(fact.value, "outputs"),
             aliased = find_figure(fact.value, "aliased"), temporaries = find_figure(fact.value, "temporaries"),
             code = find_figure(fact.value, "code");
  if (!arguments || !outputs || !aliased || !temporaries || !code || *aliased > *outputs) return std::nullopt;
  return ExecutedProgram{
      fact.key.substr(wire::program_facts.size()), 1, *arguments, *outputs, *aliased, *temporaries, *code};
}

auto identity_of(const ExecutedProgram& row) {
  return std::tie(row.name, row.argument_bytes, row.output_bytes, row.aliased_bytes, row.temporary_bytes,
                  row.code_bytes);
}

void add_programs(const Definitions& definitions, std::vector<ExecutedProgram>& all) {
  for (const JobFact& fact : definitions.job())
    if (fact.key.starts_with(wire::program_facts))
      if (auto program = program_from(fact)) all.push_back(std::move(*program));
}

std::vector<ExecutedProgram> counted(std::vector<ExecutedProgram> all) {
  std::sort(all.begin(), all.end(),
            [](const ExecutedProgram& a, const ExecutedProgram& b) { return identity_of(a) < identity_of(b); });
  std::vector<ExecutedProgram> rows;
  for (ExecutedProgram& one : all)
    if (!rows.empty() && identity_of(rows.back()) == identity_of(one))
      ++rows.back().compiled;
    else
      rows.push_back(std::move(one));
  std::stable_sort(rows.begin(), rows.end(), [](const ExecutedProgram& a, const ExecutedProgram& b) {
    return a.needed_bytes() > b.needed_bytes();
  });
  return rows;
}

}  // namespace

std::optional<ExecutedProgram> find_executed_program(const Definitions& definitions, std::string_view name) {
  const std::string key = std::string(wire::program_facts) + std::string(name);
  const std::string_view value = definitions.job_fact(key);
  return value.empty() ? std::nullopt : program_from({key, std::string(value)});
}

std::vector<ExecutedProgram> find_executed_programs(const Trace& trace) {
  std::vector<ExecutedProgram> all;
  for (const Stream& stream : trace.streams) add_programs(stream.definitions(), all);
  return counted(std::move(all));
}

std::vector<ExecutedProgram> find_executed_programs(const Definitions& definitions) {
  std::vector<ExecutedProgram> all;
  add_programs(definitions, all);
  return counted(std::move(all));
}

}  // namespace hbmscope
