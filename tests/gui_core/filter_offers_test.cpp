// What the filter line offers for a text and a cursor, without a window.
#include "app/gui/core/filter_offers.h"

#include <gtest/gtest.h>

#include "analysis/query/block_list.h"
#include "app/gui/core/settings.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

constexpr WhereField fields[] = {{"size", FieldKind::bytes, "bytes of the block", {}},
                                 {"stack", FieldKind::text, "any frame", {}},
                                 {"state", FieldKind::text, "live or pending", {}},
                                 {"tag", FieldKind::text, "its tag", {}},
                                 {"age", FieldKind::time, {}, "This file has no times."}};
const FilterValues values{{"tag", {{"optimizer", 300}, {"my weights", 200}, {"opt", 100}}}};

// `typed` has a | where the cursor is.
std::vector<FilterOffer> offers_for(std::string typed, const std::vector<std::string>& earlier = {},
                                    const FilterValues& known = values) {
  const std::size_t cursor = typed.find('|');
  typed.erase(cursor, 1);
  return find_filter_offers(typed, cursor, fields, known, earlier);
}
// What the text becomes with each, a | where the cursor goes.
std::vector<std::string> taken(const std::string& typed, const std::vector<std::string>& earlier = {},
                               const FilterValues& known = values) {
  std::vector<std::string> texts;
  for (const FilterOffer& offer : offers_for(typed, earlier, known))
    texts.push_back(std::string(offer.text).insert(offer.cursor, "|"));
  return texts;
}
using Texts = std::vector<std::string>;

TEST(FilterOffers, fields_that_begin_so_with_the_sign_that_they_take) {
  EXPECT_EQ((Texts{"stack:|", "state:|"}), taken("st|"));
  EXPECT_EQ((Texts{"size>1GiB (-tag:|"}), taken("size>1GiB (-t|"));
  EXPECT_EQ((Texts{"size>|"}), taken("si|ze")) << "what follows the cursor is replaced";
  EXPECT_EQ((Texts{}), taken("a|")) << "this file has no times";
  EXPECT_EQ((Texts{"size>|", "stack:|", "state:|", "tag:|"}), taken("|"));
  EXPECT_EQ((Texts{}), taken("tag:opt |")) << "a list after every space would be in the way";
}

TEST(FilterOffers, a_field_before_its_sign_keeps_the_sign_and_the_value) {
  EXPECT_EQ((Texts{"tag=|opt"}), taken("ta|=opt"));
}

TEST(FilterOffers, values_contain_what_is_typed_and_the_largest_come_first) {
  EXPECT_EQ((Texts{"tag:optimizer|", "tag:\"my weights\"|", "tag:opt|"}), taken("tag:|"));
  EXPECT_EQ((Texts{"tag=optimizer|"}), taken("tag=opt|")) << "what is typed already is no offer";
  EXPECT_EQ((Texts{"size>1GiB tag:\"my weights\"| stack:f"}), taken("size>1GiB tag:EIG| stack:f"));
  EXPECT_EQ((Texts{"tag:\"my weights\"|"}), taken("tag:\"my w|"));
  EXPECT_EQ((Texts{"tag:w_small|", "tag:\"my weights\"|"}),
            taken("tag:w|", {}, {{"tag", {{"my weights", 200}, {"w_small", 1}}}}))
      << "the one that begins so";
  EXPECT_EQ((Texts{}), taken("tag:/op|")) << "a pattern";
  EXPECT_EQ((Texts{}), taken("size>1|"));
  EXPECT_EQ((Texts{}), taken("stack:f|")) << "its values are not known";
  EXPECT_EQ(300, offers_for("tag:|").front().bytes);
}

TEST(FilterOffers, earlier_filters_are_first_for_an_empty_text_and_last_for_their_beginning) {
  const std::vector<std::string> earlier{"tag:opt", "size>1GiB", "kind:buffer"};
  const std::vector<FilterOffer> all = offers_for("|", earlier);
  ASSERT_EQ(6U, all.size()) << "a filter that this file can't have is left out";
  EXPECT_EQ("tag:opt", all[0].text);
  EXPECT_TRUE(all[1].is_complete);
  EXPECT_FALSE(all[2].is_complete);
  EXPECT_EQ((Texts{"size>|", "stack:|", "state:|", "size>1GiB|"}), taken("s|", earlier));
  EXPECT_EQ((Texts{"size>1GiB|"}), taken("size>|", earlier));
}

TEST(FilterOffers, are_found_for_any_text_and_cursor) {
  const std::string text = R"(-(tag:"my w" or size>1 stack:f(a)) !tag=o 'x /a b/ tag:)";
  for (std::size_t end = 0; end <= text.size(); ++end)
    for (std::size_t cursor = 0; cursor <= end; ++cursor)
      for (const FilterOffer& offer : find_filter_offers(text.substr(0, end), cursor, fields, values, {text})) {
        EXPECT_LE(offer.cursor, offer.text.size());
        EXPECT_FALSE(offer.title.empty());
      }
}

TEST(FilterValues, are_what_is_in_use_at_the_peak) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, 20 * mib, "large");
  trace.alloc(20 * mib, 5 * mib, "small");
  trace.free(0);
  trace.alloc(0, mib, "late");
  const std::atomic<bool> goes_on = false, cancelled = true;
  const FilterValues known = *filter_values_of_trace(trace.trace(), goes_on);
  const auto texts = [&](const char* field) {
    Texts all;
    for (const FilterValue& value : known.at(field)) all.push_back(value.text);
    return all;
  };
  EXPECT_EQ((Texts{"large  train.py:10", "small  train.py:10"}), texts("own"));
  EXPECT_EQ("main", texts("stack").front()) << "it holds what its callees hold";
  EXPECT_EQ(25 * static_cast<std::int64_t>(mib), known.at("function").front().bytes);
  EXPECT_EQ((Texts{"pool"}), texts("layer"));
  // The parser understands each of them.
  const auto where_fields = block_where_fields(trace.trace());
  for (const auto& [field, all] : known) {
    const std::string typed = field + "=";
    const auto offers = find_filter_offers(typed, typed.size(), where_fields, known, {});
    EXPECT_EQ(all.size(), offers.size());
    for (const FilterOffer& offer : offers) EXPECT_TRUE(parse_where(offer.text, where_fields)) << offer.text;
  }
  EXPECT_FALSE(filter_values_of_trace(trace.trace(), cancelled));
}

TEST(EarlierFilters, are_unique_newest_first_and_at_most_20) {
  std::vector<std::string> filters;
  for (int i = 0; i < 25; ++i) add_filter(filters, "size>" + std::to_string(i));
  add_filter(filters, "size>10");
  const auto file = std::filesystem::path(testing::TempDir()) / "filters" / "filters.json";
  ASSERT_TRUE(write_filters(file, filters));
  EXPECT_EQ(filters, read_filters(file));
  EXPECT_EQ(20U, filters.size());
  EXPECT_EQ("size>10", filters[0]);
  EXPECT_EQ("size>24", filters[1]);
}

}  // namespace
}  // namespace hbmscope::gui
