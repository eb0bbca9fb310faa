#include "app/cli/parser/help.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "analysis/document/text.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() : width_(static_cast<std::size_t>(std::max(40, Terminal::of_stdout().columns()))) {
    column_width(std::min<std::size_t>(30, width_ / 3));
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped_lines(CLI::Formatter::make_description(app));
  }
  std::string make_footer(const CLI::App* app) const override {
    return wrapped_lines(CLI::Formatter::make_footer(app));
  }

 private:
  std::string entry(const std::string& name, const std::string& meaning) const {
    const std::size_t column = get_column_width();
    std::string text = "  " + wrapped(name, width_, 2, 6);
    if (meaning.empty()) return text + "\n";
    const std::size_t last_line = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    const std::size_t used = text.size() - last_line;
    text += used + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - used, ' ');
    return text + wrapped(meaning, width_, column, column) + "\n";
  }

  // An example is a command and, after a gap, what it does.
  std::string wrapped_lines(const std::string& text) const {
    std::string lines;
    for (std::size_t at = 0, end = 0; at <= text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const std::size_t begin = std::min(line.find_first_not_of(' '), line.size()), gap = line.find("   ", begin);
      const std::size_t after = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
      if (display_width(line) <= width_ || after == std::string_view::npos)
        lines += wrapped(line, width_, 0, begin == 0 ? 0 : begin + 4);
      else
        lines += wrapped(line.substr(0, gap), width_, 0, begin + 4) + "\n" + std::string(begin + 4, ' ') +
                 wrapped(line.substr(after), width_, begin + 4, begin + 4);
      if (end < text.size()) lines += "\n";
    }
    return lines;
  }

  std::size_t width_;
};

// How many letters were forgotten, added or exchanged (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      corner = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, corner + (a[i] == b[j] ? 0 : 1)}));
  }
  return row.back();
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() {
  return std::make_shared<HelpFormatter>();
}

std::string text_from_nearest(std::string_view word, std::span<const std::string> words) {
  const auto nearest = std::min_element(words.begin(), words.end(), [&](const std::string& a, const std::string& b) {
    return distance(word, a) < distance(word, b);
  });
  const std::size_t close = std::max<std::size_t>(1, word.size() / 3);
  return nearest == words.end() || distance(word, *nearest) > close ? "" : fmt::format(" Did you mean {}?", *nearest);
}

std::string text_from_nearest(std::string_view word, const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); }))
    words.push_back(one->get_name());
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return text_from_nearest(word, words);
}

}  // namespace hbmscope::cli
