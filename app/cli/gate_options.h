// What --fail-if and --junit are given.
#pragma once

#include <string>

namespace hbmscope::cli {

struct GateOptions {
  std::string condition;  // Empty: none.
  std::string junit;      // A file for the result; empty: none.
  std::string command;    // "hbmscope report", for that file.
};

}  // namespace hbmscope::cli
