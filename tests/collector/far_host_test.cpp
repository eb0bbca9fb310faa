// Names of other machines and their jobs, words on their way there, and what a job there prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collector/view/far_host.h"
#include "collector/view/link_reader.h"
#include "collector/view/live_link.h"

namespace hbmscope {
namespace {

TEST(FarJob, is_a_host_a_colon_and_digits_and_nothing_else) {
  for (const auto& [text, host, process] :
       {std::tuple("gpu7:4711", "gpu7", "4711"), std::tuple("live:me@gpu7.lan:1", "me@gpu7.lan", "1"),
        std::tuple("[fe80::1]:12", "[fe80::1]", "12")}) {
    const auto job = view::far_job_from(text);
    ASSERT_TRUE(job) << text;
    EXPECT_EQ(job->host, host);
    EXPECT_EQ(job->process, process);
  }
  for (const char* text : {"4711", "live:4711", "gpu7:", ":4711", "gpu7:47x", "-oProxyCommand=x:1", "a b:1", "/tmp/x:1",
                           "fe80::1:12", "train.py --ranks 0:3", "$(id):1", ""})
    EXPECT_FALSE(view::far_job_from(text)) << text;
  EXPECT_EQ(view::socket_of("live:gpu7:4711"), "ssh:gpu7:4711");
  EXPECT_EQ(view::socket_of("gpu7:4711"), "") << "a file, unless it is said to be live";
}

TEST(FarWords, come_as_they_went_in_characters_that_no_shell_touches) {
  std::mt19937 random(7);
  const std::string safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-/:,_";
  for (int turn = 0; turn < 2000; ++turn) {
    std::string word(random() % 20, 0);
    for (char& one : word) one = static_cast<char>(random());
    const std::string text = view::encoded(word);
    EXPECT_EQ(text.find_first_not_of(safe), std::string::npos) << text;
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(view::decoded(text), word);
  }
  EXPECT_EQ(view::far_command("0.1.0-ab", {"run", "--", "a b", ""}),
            "~/.cache/hbmscope/0.1.0-ab/hbmscope far run -- a_20b _");
  for (const char* text : {"_2", "a_", "_zz", "_A0"}) EXPECT_FALSE(view::decoded(text)) << text;
}

void append(std::vector<std::uint8_t>& bytes, const void* from, std::size_t count) {
  const auto* at = static_cast<const std::uint8_t*>(from);
  bytes.insert(bytes.end(), at, at + count);
}

TEST(LinkReader, hands_out_what_a_job_printed_wherever_the_bytes_are_cut) {
  std::vector<std::uint8_t> bytes;
  link::Welcome welcome;
  welcome.version = link::version;
  append(bytes, &welcome, sizeof(welcome));
  const auto add = [&](link::FrameKind kind, const std::string& text) {
    link::FrameHeader header;
    header.kind = kind;
    header.bytes = text.size();
    append(bytes, &header, sizeof(header));
    append(bytes, text.data(), text.size());
  };
  add(link::FrameKind::output, "one\n");
  add(link::FrameKind::errors, "trouble\n");
  add(static_cast<link::FrameKind>(99), "of a newer one");
  add(link::FrameKind::output, std::string(5000, 'x'));
  for (std::size_t step = 1; step < 70; ++step) {
    std::string output, errors;
    view::LinkReader reader([](const wire::SharedBlock&) { FAIL(); }, [](const link::Status&) { FAIL(); });
    reader.set_output([&](std::span<const std::uint8_t> part, bool is_error) {
      (is_error ? errors : output).append(reinterpret_cast<const char*>(part.data()), part.size());
    });
    for (std::size_t at = 0; at < bytes.size(); at += step)
      ASSERT_FALSE(reader.feed(std::span(bytes).subspan(at, std::min(step, bytes.size() - at))));
    EXPECT_EQ(output, "one\n" + std::string(5000, 'x'));
    EXPECT_EQ(errors, "trouble\n");
  }
}

}  // namespace
}  // namespace hbmscope
