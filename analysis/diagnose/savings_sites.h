// Groups the blocks and handles of a stream by what the user could change: a line of your code, a function, a category
// or a tag. Each group is a site and has a number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/query/block_labels.h"
#include "analysis/trace/physical_state.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

enum class SiteBy : std::uint8_t { line, function, category, tag };

// What a group of allocations has in common. Of a line: `function`, `file` and `line` are set; of a function:
// `function` and `file`. Otherwise `name` is: a category, a tag, or why there is none of these ("(library code only)",
// "(no stack was recorded)", "(no tag)").
struct Site {
  std::string name;
  std::string function, file;
  std::uint32_t line = 0;  // 0: unknown.
  // False: these allocations have nothing in common that one could change: no line of your code, no tag, no category.
  bool can_change = true;

  bool has_frame() const { return name.empty(); }
  friend bool operator==(const Site&, const Site&) = default;
};

// The sites of one stream, which must outlive it.
class SiteTable {
 public:
  SiteTable(const Stream& stream, SiteBy by);

  // The number of the site of a block or handle; an unseen site gets the next number.
  std::uint32_t number_of(const LiveBlock& block);
  std::uint32_t number_of(const PhysicalHandle& handle);

  std::size_t size() const { return sites_.size(); }
  const Site& operator[](std::size_t number) const { return sites_[number]; }

 private:
  static constexpr std::uint32_t none = 0xffffffff;

  std::uint32_t number_of_id(std::vector<std::uint32_t>& known, std::uint32_t id,
                             Site (SiteTable::*site)(std::uint32_t) const);
  std::uint32_t number_of_category(Category category);
  std::uint32_t number_of_site(Site site);
  Site site_of_stack(std::uint32_t stack) const;
  Site site_of_tag(std::uint32_t tag) const;

  const Definitions& definitions_;
  SiteBy by_;
  std::optional<BlockLabels> labels_;  // Only for categories.
  std::vector<Site> sites_;
  std::map<std::tuple<std::string, std::string, std::string, std::uint32_t>, std::uint32_t> numbers_;
  std::vector<std::uint32_t> by_stack_, by_tag_;  // `none`: not seen yet.
  std::array<std::uint32_t, category_count> by_category_{};
};

}  // namespace hbmscope
