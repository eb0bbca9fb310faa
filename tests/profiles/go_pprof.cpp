#include "tests/profiles/go_pprof.h"

#include <sys/wait.h>

#include <charconv>
#include <cstdio>
#include <sstream>
#include <string_view>

namespace hbmscope::test {
namespace {

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// "12919300096B" and "688b": with the unit b, bytes and counts alike are printed in full.
bool read_number(const std::string& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return error == std::errc() && (unit.empty() || unit == "B" || unit == "b");
}

void remove_ending(std::string& text, std::string_view ending) {
  if (text.ends_with(ending)) text.resize(text.size() - ending.size());
}

}  // namespace

CommandOutput run_command(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += quoted(word) + " ";
  CommandOutput output;
  std::FILE* pipe = ::popen((command + "2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[1 << 14];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.text.append(buffer, got);
  const int state = ::pclose(pipe);
  output.status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  return output;
}

bool has_go_pprof() {
  static const bool found = run_command({"go", "tool", "-n", "pprof"}).status == 0;
  return found;
}

PprofTop run_go_pprof_top(const std::string& file, const std::string& value_type,
                          const std::vector<std::string>& options, std::string& messages) {
  std::vector<std::string> words = {
      "go",      "tool",         "pprof",           "-symbolize=none", "-top",
      "-unit=b", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-sample_index=" + value_type};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(file);
  const CommandOutput output = run_command(words);
  PprofTop top;
  std::istringstream lines(output.text);
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream columns(line);
    std::string flat, flat_share, sum_share, cum, cum_share, name;
    columns >> flat >> flat_share >> sum_share >> cum >> cum_share;
    if (!in_table) {
      in_table = flat == "flat" && cum == "cum";
      if (!in_table) messages += line + "\n";
      continue;
    }
    std::getline(columns >> std::ws, name);
    remove_ending(name, " (inline)");
    remove_ending(name, " (partial-inline)");
    PprofRow row;
    if (!read_number(flat, row.flat) || !read_number(cum, row.cum)) {
      messages += "not understood: " + line + "\n";
      continue;
    }
    top[name].flat += row.flat;
    top[name].cum += row.cum;
  }
  return top;
}

bool write_go_heap_profile(const std::string& out, std::string& reason) {
  const std::string program = std::string(HBMSCOPE_SOURCE_DIR) + "/tests/profiles/go_heap.go";
  const CommandOutput output = run_command({"env", "GO111MODULE=off", "GOFLAGS=", "go", "run", program, out});
  reason = output.text;
  return output.status == 0;
}

}  // namespace hbmscope::test
