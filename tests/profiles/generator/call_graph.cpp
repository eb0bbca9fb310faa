#include "tests/profiles/generator/call_graph.h"

#include <array>
#include <string_view>

namespace hbmscope::test {
namespace {

constexpr std::uint32_t function_count = 8'000;
constexpr std::uint32_t file_count = 600;
constexpr std::uint32_t sites_max = 6;    // A function's, one more for every fourth: 30,000 locations.
constexpr std::uint32_t callees_max = 3;  // The targets of one site: methods, callbacks.

constexpr std::array<std::string_view, 12> verbs = {"apply", "init",  "call",   "bind",  "scan", "wrapped",
                                                    "make",  "lower", "update", "trace", "norm", "shard"};
constexpr std::array<std::string_view, 14> nouns = {"layer",  "attention", "params",    "batch", "gradients",
                                                    "state",  "block",     "primitive", "mesh",  "embedding",
                                                    "logits", "moments",   "rope",      "cache"};
constexpr std::array<std::string_view, 4> folders = {
    "/srv/train/model/", "/srv/venv/lib/python3.11/site-packages/jax/_src/interpreters/",
    "/srv/venv/lib/python3.11/site-packages/flax/linen/", "/srv/venv/lib/python3.11/site-packages/optax/_src/"};

// The function that a site calls is a property of the site, so it is computed from it and needs no table.
std::uint32_t callee_of(std::uint32_t site, std::uint32_t choice) {
  return Random(std::uint64_t{site} * callees_max + choice).below(function_count);
}

}  // namespace

CallGraph::CallGraph(Random& random) {
  std::vector<std::string> files;
  for (std::uint32_t i = 0; i < file_count; ++i)
    files.push_back(std::string(folders[i % folders.size()]) + std::string(nouns[random.below(nouns.size())]) + "_" +
                    std::to_string(i) + ".py");
  for (std::uint32_t i = 0; i < function_count; ++i) {
    GeneratedFunction function;
    function.name = std::string(verbs[random.below(verbs.size())]) + "_" +
                    std::string(nouns[random.below(nouns.size())]) + "_" + std::to_string(random.below(200));
    function.file = files[random.below(file_count)];
    function.first_line = random.between(1, 2'000);
    function.first_site = static_cast<std::uint32_t>(sites_.size());
    function.site_count = random.between(1, sites_max) + (i % 4 == 0 ? 1 : 0);
    for (std::uint32_t site = 0; site < function.site_count; ++site)
      sites_.push_back({i, function.first_line + random.between(1, 60)});
    functions_.push_back(std::move(function));
  }
  // A handful of ways from main() into the model, some dozens from a primitive into the runtime.
  const auto some_sites = [&](std::uint32_t low, std::uint32_t high) {
    std::vector<std::uint32_t> sites(random.between(low, high));
    for (std::uint32_t& site : sites) site = random.below(static_cast<std::uint32_t>(sites_.size()));
    return sites;
  };
  for (int i = 0; i < 6; ++i) outer_.push_back(some_sites(5, 9));
  for (int i = 0; i < 40; ++i) inner_.push_back(some_sites(4, 10));
}

void CallGraph::walk(Random& random, std::vector<std::uint32_t>& stack) const {
  const std::vector<std::uint32_t>& inner = inner_[random.skewed(static_cast<std::uint32_t>(inner_.size()))];
  const std::vector<std::uint32_t>& outer = outer_[random.skewed(static_cast<std::uint32_t>(outer_.size()))];
  const std::size_t depth = random.between(20, 60);
  stack.resize(depth);
  std::size_t begin = 0, end = depth;  // The part that is not filled yet.
  for (const std::uint32_t site : inner) stack[begin++] = site;
  for (std::size_t i = outer.size(); i-- > 0 && end > begin;) stack[--end] = outer[i];
  std::uint32_t site = outer.front();
  while (end > begin) {
    // Most calls go to their usual target; that is why gzip reaches 0.4 of the size, as with real files.
    const std::uint32_t choice = random.one_in(5) ? random.below(callees_max) : 0;
    const GeneratedFunction& callee = functions_[callee_of(site, choice)];
    site = callee.first_site + (random.one_in(3) ? random.below(callee.site_count) : 0);
    stack[--end] = site;
  }
}

}  // namespace hbmscope::test
