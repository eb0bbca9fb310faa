// An imaginary program: functions with names and files, the places in them that call others, and walks through it that
// look like the stacks of a training job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/profiles/generator/random.h"

namespace hbmscope::test {

struct GeneratedFunction {
  std::string name, file;
  std::uint32_t first_line = 0;
  std::uint32_t first_site = 0, site_count = 0;
};
struct GeneratedSite {  // A line of a function that contains a call: one location.
  std::uint32_t function = 0, line = 0;
};

class CallGraph {
 public:
  explicit CallGraph(Random& random);

  const std::vector<GeneratedFunction>& functions() const { return functions_; }
  const std::vector<GeneratedSite>& sites() const { return sites_; }

  // The sites of one stack, innermost first.
  void walk(Random& random, std::vector<std::uint32_t>& stack) const;

 private:
  std::vector<GeneratedFunction> functions_;
  std::vector<GeneratedSite> sites_;
  std::vector<std::vector<std::uint32_t>> outer_, inner_;  // Shared ends of stacks, innermost first.
};

}  // namespace hbmscope::test
