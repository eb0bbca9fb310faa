// What holds the most, as tables: frames, lines of your code, categories.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/label_rows.h"
#include "analysis/query/top.h"
#include "analysis/query/user_code.h"

namespace hbmscope {

// What percentages refer to: the whole profile, or what a filter leaves.
struct TopBase {
  std::int64_t amount = 0;
  std::string words;  // "11.8 GiB total"
};
TopBase whole_of(const ProfileView& view);
// Of what the filter leaves, if percentages are relative to that.
TopBase base_of(const ProfileView& view, bool is_relative);

CodeSite site_of(const Frame& frame);

// The view must live as long as the table. The key of the rows is "rows"; "own_code"; "categories"; "holders".
Table describe_top(const ProfileView& view, std::shared_ptr<const std::vector<TopRow>> rows, const TopBase& base);
Table describe_user_code(const ProfileView& view, std::shared_ptr<const std::vector<UserCodeRow>> rows,
                         const TopBase& base);
Table describe_categories(const std::vector<CategoryRow>& rows, const TopBase& base);
Table describe_arrays(const std::vector<HolderRow>& rows);

template <class Row>
std::shared_ptr<const std::vector<Row>> shared(std::vector<Row> rows) {
  return std::make_shared<const std::vector<Row>>(std::move(rows));
}

}  // namespace hbmscope
