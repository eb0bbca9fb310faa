// Bookmarks: set, gone to, kept by what a file contains, copied as a command; without a window.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "app/gui/core/app.h"
#include "app/gui/core/bookmark_file.h"
#include "app/gui/sources/content_key.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

class Bookmarks : public testing::Test {
 protected:
  Bookmarks() {
    test::SmallTrace trace;
    trace.region(0x10000000, 640 * mib);
    for (std::uint64_t i = 0; i < 10; ++i) trace.alloc(0x10000000 + i * 64 * mib, (i + 1) * mib, "forward");
    trace.write(path("small.hbm"));
  }
  std::string path(const std::string& name) const { return (home_ / name).string(); }
  const AppState& state() const { return app_->state(); }
  const ViewPosition& position() const { return app_->state().position(); }
  const std::vector<Bookmark>& bookmarks() const { return bookmarks_of(state(), *state().source()); }

  void start(bool leaves_no_trace = false) {
    app_.reset();
    app_ = std::make_unique<App>([] {}, leaves_no_trace);
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    app_->update();
    while (app_->busy() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      app_->update();
    }
    ASSERT_FALSE(app_->busy());
  }
  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    settle();
  }
  void open(const std::string& name) { give(Command(command::open_paths, {path(name)})); }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

TEST_F(Bookmarks, one_keeps_the_state_with_its_note_for_any_copy_of_the_file) {
  start();
  open("small.hbm");
  give(command::set_moment, MomentName("#6"));
  give(command::set_filter, "size>2MiB");
  give(command::select_address, PlaceToSelect{0x10000000 + 64 * mib + 5});
  give(command::show_span, TimelineSpan{1000, 8000});
  give(command::set_view, ViewKind::blocks);
  give(CommandId::set_bookmark);
  ASSERT_EQ(1U, bookmarks().size());
  EXPECT_EQ("Blocks, 5 µs, 0x14000005, size>2MiB", bookmarks()[0].title);
  EXPECT_EQ(bookmarks()[0].id, state().window.noted_bookmark) << "its note is typed now";
  give(command::note_bookmark, BookmarkNote{bookmarks()[0].id, "the second one"});
  EXPECT_EQ(0U, state().window.noted_bookmark);
  const ViewPosition marked = position();
  give(command::set_moment, MomentName("end"));
  give(CommandId::clear_filter);
  give(CommandId::show_heap_map);
  const ViewPosition left = position();
  give(command::go_to_bookmark, bookmarks()[0].id);
  EXPECT_EQ("#6", position().at.text());
  EXPECT_EQ(marked.address, position().address);
  EXPECT_EQ(marked.request, position().request);
  EXPECT_EQ(marked.span, position().span);
  EXPECT_EQ(ViewKind::blocks, position().view);
  give(CommandId::back);
  EXPECT_EQ(left, position());
  give(command::go_to_bookmark, bookmarks()[0].id);
  give(CommandId::set_bookmark);
  EXPECT_EQ(1U, bookmarks().size()) << "the same state";

  fs::copy_file(path("small.hbm"), path("copy.hbm"));
  start();
  open("copy.hbm");
  ASSERT_EQ(1U, bookmarks().size());
  EXPECT_EQ("the second one", bookmarks()[0].note);
  EXPECT_EQ("Blocks, 5 µs, 0x14000005, size>2MiB", bookmarks()[0].title);
  EXPECT_EQ((BookmarkTime{0, 6, bookmarks()[0].time->time_ns}), bookmarks()[0].time);
  give(command::go_to_bookmark, bookmarks()[0].id);
  EXPECT_EQ("#6", position().at.text());
  EXPECT_EQ(marked.address, position().address);
  EXPECT_EQ(marked.span, position().span);
  give(command::copy_bookmark, bookmarks()[0].id);
  EXPECT_EQ("# the second one\nhbmscope open " + path("copy.hbm") +
                " --view blocks --at '#6' --where 'size>2MiB' --select 0x14000005",
            state().window.clipboard);

  start(/*leaves_no_trace=*/true);
  open("copy.hbm");
  EXPECT_TRUE(bookmarks().empty()) << "a picture must not depend on them";

  start();
  open("copy.hbm");
  give(command::delete_bookmark, bookmarks()[0].id);
  EXPECT_TRUE(bookmarks().empty());
  EXPECT_TRUE(fs::is_empty(home_ / "state" / "hbmscope" / "bookmarks"));
  for (const auto& entry : fs::directory_iterator(home_.path()))
    EXPECT_TRUE(entry.is_directory() || entry.path().extension() == ".hbm") << "nothing is beside the files";
}

TEST_F(Bookmarks, another_content_has_its_own) {
  start();
  open("small.hbm");
  give(CommandId::set_bookmark);
  test::SmallTrace other;
  other.region(0, 64 * mib);
  other.alloc(0, mib, "f");
  other.write(path("other.hbm"));
  open("other.hbm");
  EXPECT_TRUE(bookmarks().empty());
  give(CommandId::set_bookmark);
  const std::uint64_t of_small = bookmarks_of(state(), state().sources[0])[0].id;
  give(command::go_to_bookmark, of_small);
  EXPECT_EQ(state().sources[0].id, position().source);
}

TEST_F(Bookmarks, a_damaged_file_has_none) {
  for (const char* text :
       {"", "[]", R"({"bookmarks": [3, {"view": 7, "zoom": [1], "selection": "f", "event": "x"}]})"}) {
    std::ofstream(home_ / "b.json") << text;
    for (const Bookmark& bookmark : read_bookmarks(home_ / "b.json")) EXPECT_EQ("", bookmark.note);
  }
}

TEST(ContentKey, is_of_the_bytes_and_their_number) {
  const fs::path folder = fs::path(testing::TempDir()) / "content_key";
  fs::create_directories(folder);
  const auto key = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return content_key_of({(folder / name).string()});
  };
  const std::string large(300'000, 'x');
  EXPECT_EQ(key("a", large), key("b", large));
  EXPECT_NE(key("a", large), key("a", large + "x"));
  EXPECT_NE(key("a", large), key("a", large.substr(1) + "y"));
  EXPECT_NE(key("a", large), key("a", "y" + large.substr(1)));
  EXPECT_NE(key("a", ""), key("a", "x"));
  EXPECT_EQ("", content_key_of({folder.string()})) << "a folder";
  EXPECT_EQ("", content_key_of({(folder / "none").string()}));
  EXPECT_EQ("", content_key_of({}));
  EXPECT_NE(content_key_of({(folder / "a").string()}),
            content_key_of({(folder / "a").string(), (folder / "b").string()}));
}

}  // namespace
}  // namespace hbmscope::gui
