// The link between an observer and its viewers, both ends in one process.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>

#include "analysis/read/recording/growing_trace.h"
#include "collector/link/meeting_place.h"
#include "collector/serve/viewer_port.h"
#include "collector/view/lag.h"
#include "collector/view/live_link.h"
#include "collector/wire/stream_writer.h"
#include "tests/collector/link_fixture.h"

namespace hbmscope {
namespace {

using Link = LinkTest;

TEST_F(Link, WhoeverComesGetsAllThatWasAndThenAllThatIs) {
  record(2500);
  Viewer early, late;
  ASSERT_TRUE(early.open(port.socket_path()));
  turn(early, 4);
  EXPECT_EQ(early.events(), 2500U);
  record(10'000);
  ASSERT_TRUE(late.open(port.socket_path()));
  turn(early, 4);
  turn(late, 4);
  EXPECT_EQ(early.events(), 12'500U);
  EXPECT_EQ(late.events(), 12'500U);
  const auto trace = late.trace.version();
  EXPECT_EQ(trace->streams[0].counts().lost, 0U);
  EXPECT_EQ(trace->streams[0].state_at(12'500).in_use_bytes(1), 12'500U * 512);
  EXPECT_EQ(late.last.blocks_bytes, recorder.end_place());
  EXPECT_NE(late.last.flags & link::status_flag::is_recording, 0U);
}

TEST_F(Link, OneThatDoesNotReadCostsTheOthersNothingAndFindsAllLater) {
  Viewer stopped, reading;
  ASSERT_TRUE(stopped.open(port.socket_path()));
  ASSERT_TRUE(reading.open(port.socket_path()));
  std::mt19937_64 source(1);
  for (int round = 0; round < 50; ++round) {  // Some megabytes: more than sockets hold.
    for (int i = 0; i < 20'000; ++i) {
      wire::CounterRecord noise;
      noise.value = static_cast<std::int64_t>(source());
      writer.add(noise, i);
    }
    writer.flush();
    turn(reading, 2);
  }
  turn(reading, 3);
  EXPECT_EQ(reading.events(), 1'000'000U);
  EXPECT_GT(recorder.end_place(), 4U << 20);
  for (int i = 0; i < 100 && stopped.events() < 1'000'000; ++i) turn(stopped);
  EXPECT_EQ(stopped.events(), 1'000'000U);
  EXPECT_EQ(stopped.trace.version()->streams[0].counts().lost, 0U);
}

TEST_F(Link, ViewersGoOnWhenTheRecordingWasStopped) {
  Viewer viewer;
  ASSERT_TRUE(viewer.open(port.socket_path()));
  record(1000);
  turn(viewer, 3);
  viewer.ask(link::RequestKind::stop_recording);
  turn(viewer);
  ASSERT_EQ(port.take_requests(), std::vector{link::RequestKind::stop_recording});
  recorder.stop();
  const std::uint64_t kept = std::filesystem::file_size(recorder.path());
  record(1000);
  turn(viewer, 3);
  EXPECT_EQ(viewer.events(), 2000U);
  EXPECT_EQ(viewer.last.flags & link::status_flag::is_recording, 0U);
  EXPECT_EQ(std::filesystem::file_size(recorder.path()), kept);
  // A viewer that connects now gets both parts.
  Viewer late;
  ASSERT_TRUE(late.open(port.socket_path()));
  turn(late, 4);
  EXPECT_EQ(late.events(), 2000U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "hbmscope"), {}), 1) << "the socket alone";
}

TEST_F(Link, ViewersGoOnWhenARecordingWithoutANameWasStopped) {
  setenv("TMPDIR", folder_.c_str(), 1);
  serve::Recorder nameless;
  ASSERT_EQ(nameless.open_without_name(), std::nullopt);
  unsetenv("TMPDIR");
  serve::ViewerPort at(nameless);
  ASSERT_EQ(at.open(), std::nullopt);
  wire::StreamWriter events(0, [&](const wire::SharedBlock& block) { nameless.append(*block); });
  Viewer viewer;
  ASSERT_TRUE(viewer.open(at.socket_path()));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1000; ++i) events.add(wire::CounterRecord{}, i);
    events.flush();
    for (int i = 0; i < 4; ++i) {
      at.serve({});
      viewer.read();
    }
    EXPECT_EQ(viewer.events(), (round + 1) * 1000U);
    EXPECT_EQ((viewer.last.flags & link::status_flag::is_recording) != 0, round == 0);
    nameless.stop();
  }
  EXPECT_EQ(nameless.lost_events(), 0U);
  for (const auto& left : std::filesystem::directory_iterator(folder_))
    EXPECT_TRUE(left.path().filename() == "hbmscope" || left.path().filename() == "r.hbm") << left.path();
}

TEST_F(Link, WhatFindsNoPlaceAfterTheRecordingIsCountedAsLost) {
  const auto own = folder_ / "own";
  const auto add = [](serve::Recorder& one) {
    wire::StreamWriter events(0, [&](const wire::SharedBlock& block) { one.append(*block); });
    for (int i = 0; i < 1000; ++i) events.add(wire::CounterRecord{}, i);
    events.flush();
  };
  for (const bool has_place : {true, false}) {
    serve::Recorder one;
    std::filesystem::create_directories(own);
    ASSERT_EQ(one.open(own / "r.hbm"), std::nullopt);
    std::filesystem::remove_all(own);
    std::filesystem::permissions(folder_ / "hbmscope",
                                 has_place ? std::filesystem::perms::owner_all : std::filesystem::perms::all);
    add(one);
    one.stop();
    const std::uint64_t before = one.end_place();
    add(one);
    EXPECT_EQ(one.lost_events(), has_place ? 0U : 1000U);
    EXPECT_EQ(one.end_place() > before, has_place);
  }
}

TEST_F(Link, NamesOfAnObserverThatDoesNotListenAreRemoved) {
  link::note_observed(1);
  EXPECT_EQ(link::find_observer_of(1), getpid());
  const auto socket = folder_ / "hbmscope" / ("view-" + std::to_string(getpid())), kept = folder_ / "kept";
  std::filesystem::rename(socket, kept);
  std::string wrong;
  const int left = link::listen_at(socket, SOCK_STREAM, wrong);
  ASSERT_GE(left, 0) << wrong;
  EXPECT_EQ(link::find_observer_of(1), getpid());
  close(left);  // As after exec(): the name stays.
  EXPECT_EQ(link::find_observer_of(1), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "hbmscope"));
  std::filesystem::rename(kept, socket);
}

TEST_F(Link, WhatAKilledObserverLeftIsRemovedByTheNextOne) {
  const std::string folder = link::private_folder();
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const pid_t killed = fork();
  if (killed == 0) {
    std::string wrong;
    const char is_there = link::listen_at(link::job_socket(folder, getpid()), SOCK_SEQPACKET, wrong) >= 0 &&
                                  link::listen_at(link::viewer_socket(folder, getpid()), SOCK_STREAM, wrong) >= 0
                              ? 'y'
                              : 'n';
    link::note_observed(1);
    if (write(said[1], &is_there, 1) == 1) pause();
    _exit(1);
  }
  char is_there = 0;
  ASSERT_EQ(read(said[0], &is_there, 1), 1);
  ASSERT_EQ(is_there, 'y');
  const auto names = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  link::forget_dead_observers();
  EXPECT_EQ(names(), 4) << "it lives, and so does ours";
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  link::forget_dead_observers();
  EXPECT_EQ(names(), 1);
  EXPECT_TRUE(std::filesystem::exists(port.socket_path()));
  close(said[0]);
  close(said[1]);
}

TEST_F(Link, WhatIsNoViewerIsHungUpOn) {
  const auto says = [&](const void* bytes, std::size_t count) {
    std::string wrong;
    const int peer = link::connect_to(port.socket_path(), SOCK_STREAM, wrong);
    EXPECT_GE(peer, 0) << wrong;
    EXPECT_EQ(send(peer, bytes, count, MSG_NOSIGNAL), static_cast<ssize_t>(count));
    port.serve({});
    port.serve({});
    link::Welcome welcome;
    const ssize_t got = recv(peer, &welcome, sizeof(welcome), 0);
    close(peer);
    return got == static_cast<ssize_t>(sizeof(welcome)) ? welcome.version : ~0U;
  };
  link::Greeting good, newer;
  EXPECT_EQ(says(&good, sizeof(good)), link::version);
  newer.oldest_version = newer.newest_version = link::version + 5;
  EXPECT_EQ(says(&newer, sizeof(newer)), 0U) << "told that there is no common version";
  EXPECT_EQ(says("GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n", 34), ~0U);
  port.serve({});
  EXPECT_EQ(port.viewers(), 0U);
  // One that greets well and then says nonsense.
  Viewer viewer;
  ASSERT_TRUE(viewer.open(port.socket_path()));
  turn(viewer);
  EXPECT_EQ(port.viewers(), 1U);
  viewer.ask(static_cast<link::RequestKind>(77));  // A newer viewer's: passed on, nobody knows it.
  turn(viewer);
  EXPECT_EQ(port.viewers(), 1U);
}

TEST_F(Link, ALostLinkGoesOnWhereItWas) {
  record(2500);
  Viewer viewer;
  ASSERT_TRUE(viewer.open(port.socket_path()));
  turn(viewer, 4);
  ASSERT_EQ(viewer.events(), 2500U);
  record(1500);
  ASSERT_TRUE(viewer.open_again(port.socket_path()));  // In the middle of everything.
  turn(viewer, 4);
  EXPECT_EQ(viewer.events(), 4000U);
  EXPECT_EQ(viewer.trace.bad_blocks(), 0U) << "nothing came twice";
  EXPECT_EQ(viewer.trace.version()->streams[0].counts().lost, 0U);
  // At the same address another observer by now: its blocks are no continuation of these.
  serve::Recorder other;
  ASSERT_EQ(other.open(folder_ / "other.hbm"), std::nullopt);
  serve::ViewerPort next(other);
  ASSERT_EQ(next.open(), std::nullopt);
  ASSERT_TRUE(viewer.open_again(next.socket_path()));
  next.serve({});
  next.serve({});
  while (viewer.read()) next.serve({});
  EXPECT_NE(viewer.why().find("different one"), std::string::npos);
}

TEST_F(Link, TenThousandConnectionsAreBounded) {
  std::vector<int> open;
  std::size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string wrong;
    const int peer = link::connect_to(port.socket_path(), SOCK_STREAM, wrong);
    ASSERT_GE(peer, 0) << wrong;
    open.push_back(peer);
    port.serve({});
    most = std::max(most, port.viewers());
    if (open.size() == 100) {
      for (const int one : open) close(one);
      open.clear();
    }
  }
  for (const int one : open) close(one);
  port.serve({});
  EXPECT_LE(most, 64U);
  EXPECT_LE(port.refused().size(), 100U);
  record(100);
  Viewer viewer;
  ASSERT_TRUE(viewer.open(port.socket_path()));
  turn(viewer, 3);
  EXPECT_EQ(viewer.events(), 100U);
}

// Like a viewer that is stopped: it does not delay the job's end, whatever others receive meanwhile.
TEST_F(Link, OneThatTakesNothingIsLeftBehindAtTheEnd) {
  Viewer stopped, reading;
  ASSERT_TRUE(stopped.open(port.socket_path()));
  ASSERT_TRUE(reading.open(port.socket_path()));
  turn(reading, 2);
  std::mt19937_64 source(1);
  for (int i = 0; i < 1'000'000; ++i) {
    wire::CounterRecord noise;
    noise.value = static_cast<std::int64_t>(source());
    writer.add(noise, i);
  }
  writer.flush();
  std::atomic<bool> is_over{false};
  std::thread taking([&] {
    while (!is_over) reading.read();
  });
  port.finish({}, 50);
  is_over = true;
  taking.join();
  while (reading.read()) {
  }
  EXPECT_EQ(port.viewers(), 0U);
  EXPECT_EQ(reading.events(), 1'000'000U);
}

// The lag is computed from what was reported but has not arrived.
TEST(Lag, IsTheAgeOfWhatComesNext) {
  constexpr std::int64_t second = 1'000'000'000;
  view::Lag lag;
  link::Status reported;
  reported.blocks_bytes = 1000;  // The beginning is being fetched: what came last is of a minute ago.
  reported.now_ns = 100 * second;
  lag.note(reported, 400, 40 * second);
  EXPECT_DOUBLE_EQ(lag.seconds(), 60);
  lag.note(reported, 1000, 90 * second);  // Everything has arrived, however long nothing has happened.
  EXPECT_DOUBLE_EQ(lag.seconds(), 0);
  reported.blocks_bytes = 1500;
  lag.note(reported, 1000, 90 * second);
  EXPECT_DOUBLE_EQ(lag.seconds(), 0) << "it was told just now";
  reported.now_ns = 103 * second;
  reported.blocks_bytes = 1800;
  lag.note(reported, 1200, 90 * second);
  EXPECT_DOUBLE_EQ(lag.seconds(), 3);
  lag.note(reported, 1500, 100 * second);
  EXPECT_DOUBLE_EQ(lag.seconds(), 0);
  reported.now_ns = 105 * second;
  lag.note(reported, 1500, 100 * second);
  EXPECT_DOUBLE_EQ(lag.seconds(), 2);
  lag.note(reported, 1800, 103 * second);
  EXPECT_DOUBLE_EQ(lag.seconds(), 0);
}

TEST(Lag, OfAnyTimesIsATime) {
  constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min(),
                         last = std::numeric_limits<std::int64_t>::max();
  view::Lag waiting, fetching;
  link::Status reported;
  reported.blocks_bytes = 100;
  reported.now_ns = first;
  waiting.note(reported, 100, 0);
  reported.blocks_bytes = 200;
  waiting.note(reported, 100, 0);
  reported.now_ns = last;
  waiting.note(reported, 100, 0);
  EXPECT_GT(waiting.seconds(), 9e9);
  fetching.note(reported, 50, first);
  EXPECT_GT(fetching.seconds(), 9e9);
  reported.now_ns = first;
  fetching.note(reported, 50, last);
  EXPECT_DOUBLE_EQ(fetching.seconds(), 0);
}

TEST_F(Link, NobodyAnswers) {
  Viewer viewer;
  EXPECT_FALSE(viewer.open((folder_ / "hbmscope" / "view-1").string()));
  EXPECT_EQ(view::socket_of("live:4711"), (folder_ / "hbmscope" / "view-4711").string());
  EXPECT_EQ(view::socket_of("live:/tmp/a"), "/tmp/a");
  EXPECT_EQ(view::socket_of("live:"), "");
  EXPECT_EQ(view::socket_of("live:47x"), "");
  EXPECT_EQ(view::socket_of("snapshot.pickle"), "");
}

// Arbitrary bytes, cut anywhere: the result is blocks or an error text.
TEST(LinkReader, TakesBytesOneByOneAndAnyBytes) {
  link::Welcome welcome;
  welcome.version = link::version;
  wire::BlockEncoder encoder;
  for (int i = 0; i < 10; ++i) encoder.add(wire::CounterRecord{}, i);
  const wire::Block block = encoder.close();
  std::vector<std::uint8_t> blocks;
  const auto append = [](std::vector<std::uint8_t>& to, const void* bytes, std::size_t count) {
    to.insert(to.end(), static_cast<const std::uint8_t*>(bytes), static_cast<const std::uint8_t*>(bytes) + count);
  };
  for (int i = 0; i < 3; ++i) {
    append(blocks, &block.header, sizeof(block.header));
    append(blocks, block.payload.data(), block.payload.size());
  }
  std::vector<std::uint8_t> said;
  append(said, &welcome, sizeof(welcome));
  const auto frame = [&](link::FrameKind kind, const void* bytes, std::size_t count) {
    link::FrameHeader header;
    header.kind = kind;
    header.bytes = count;
    append(said, &header, sizeof(header));
    append(said, bytes, count);
  };
  const link::Status status;
  frame(link::FrameKind::status, &status, sizeof(status));
  frame(link::FrameKind::recording, blocks.data(), 17);  // Cut inside of a header.
  frame(static_cast<link::FrameKind>(99), "what a newer one says", 21);
  frame(link::FrameKind::recording, blocks.data() + 17, blocks.size() - 17);
  frame(link::FrameKind::status, &status, sizeof(status));

  int found = 0, statuses = 0;
  const auto make = [&] {
    found = statuses = 0;
    return view::LinkReader([&](const wire::SharedBlock&) { ++found; }, [&](const link::Status&) { ++statuses; });
  };
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, said.size()}) {
    view::LinkReader reader = make();
    for (std::size_t at = 0; at < said.size(); at += step)
      ASSERT_EQ(reader.feed(std::span(said).subspan(at, std::min(step, said.size() - at))), std::nullopt) << step;
    EXPECT_EQ(found, 3) << step;
    EXPECT_EQ(statuses, 2) << step;
  }
  std::mt19937_64 random(7);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint8_t> damaged = said;
    for (int flips = 0; flips < 3; ++flips)
      damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1 << random() % 8);
    view::LinkReader reader = make();
    if (reader.feed(damaged)) ++refused;
    EXPECT_LE(found, 3);
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace hbmscope
