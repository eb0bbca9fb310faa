#include "app/gui/core/copy_as_command.h"

#include <gtest/gtest.h>

#include "analysis/query/where.h"
#include "analysis/units/shell_quote.h"

namespace hbmscope::gui {
namespace {

AppState two_files() {
  AppState state;
  for (const char* path : {"old run.prof", "new.prof"}) {
    Source source;
    source.id = static_cast<SourceId>(state.sources.size() + 1);
    source.path = path;
    source.state = AnswerState::ready;
    state.sources.push_back(std::move(source));
  }
  state.context().position.source = static_cast<SourceId>(2);
  return state;
}

TEST(ShellQuote, quotes_only_what_a_shell_would_read_otherwise) {
  EXPECT_EQ(shell_quote("runs/a.prof"), "runs/a.prof");
  EXPECT_EQ(shell_quote("size>1GiB stack:adam"), "'size>1GiB stack:adam'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(WhereQuote, whatever_is_quoted_parses_as_one_term_with_that_text) {
  for (const std::string text :
       {"train_step", "<module>", "a b", "say \"x\"", "back\\slash", "TPU_3(process=0,(1,0,0,1))", "-x", "/re/"}) {
    const auto parsed = parse_where("stack:" + where_quote(text), profile_where_fields());
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().text();
    ASSERT_EQ(parsed->kind, WhereNode::Kind::term) << text;
    EXPECT_EQ(parsed->term.text, text);
  }
}

TEST(WhereQuote, a_text_with_both_quotes_becomes_a_pattern_for_itself) {
  const auto parsed = parse_where("stack:" + where_quote("it's \"x\".y"), profile_where_fields());
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_TRUE(parsed->term.matches_text("it's \"x\".y"));
  EXPECT_FALSE(parsed->term.matches_text("it's \"x\"zy"));
}

TEST(CopyAsCommand, opens_files_filter_selection_view_and_baseline) {
  AppState state = two_files();
  ViewPosition& position = state.context().position;
  position.baseline = static_cast<SourceId>(1);
  position.view = ViewKind::diff;
  position.request.where = "size>1GiB";
  position.selection = {"train step", "", 0};
  EXPECT_EQ(open_command(state),
            "hbmscope open new.prof --baseline 'old run.prof' --view diff --where 'size>1GiB' --select 'train step'");
}

TEST(CopyAsCommand, a_link_has_the_same_options_without_the_files) {
  AppState state = two_files();
  ViewPosition& position = state.context().position;
  position.view = ViewKind::top;
  position.all_devices = true;
  position.request.where = "size>1GiB";
  state.settings.theme = Theme::light;
  const std::vector<std::pair<std::string, std::string>> expected{
      {"view", "top"}, {"all-devices", ""}, {"where", "size>1GiB"}, {"theme", "light"}};
  EXPECT_EQ(open_options(state), expected);
}

TEST(CopyAsCommand, the_report_twin_follows_the_view) {
  AppState state = two_files();
  ViewPosition& position = state.context().position;
  position.view = ViewKind::top;
  position.request.by = FrameBy::line;
  EXPECT_EQ(report_command(state), "hbmscope report new.prof --by line");
  position.request.keep_dropped_frames = true;
  EXPECT_EQ(report_command(state), "hbmscope report new.prof --by line --keep-dropped-frames");
  position.request.keep_dropped_frames = false;
  position.view = ViewKind::import;
  EXPECT_EQ(report_command(state), "hbmscope check new.prof");
  position.view = ViewKind::diff;
  position.baseline = static_cast<SourceId>(1);
  position.match = StackMatch::line;
  EXPECT_EQ(report_command(state), "hbmscope diff 'old run.prof' new.prof --match line");
}

}  // namespace
}  // namespace hbmscope::gui
