// Options whose words may be written in capitals, and those that name a moment of a trace.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hbmscope::cli {

// "PEAK" is "peak". An empty one is refused: a script whose variable is empty would get the end without a word.
CLI::Option* add_moment_option(CLI::App& command, const std::string& name, std::string& moment,
                               const std::string& help);
CLI::Option* ignore_case(CLI::Option* option);

}  // namespace hbmscope::cli
