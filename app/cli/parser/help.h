// What somebody reads who doesn't know a command yet: help that fits the terminal, and what a mistyped word may mean.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace hbmscope::cli {

// At most as wide as the terminal; 100 characters elsewhere.
std::shared_ptr<CLI::FormatterBase> make_help_formatter();

// " Did you mean report?", or nothing if no word is close: at most one letter in three is another one.
std::string text_from_nearest(std::string_view word, std::span<const std::string> words);
// The command and its options.
std::string text_from_nearest(std::string_view word, const CLI::App& app);

}  // namespace hbmscope::cli
