// Peers that must not get in: other users, and TCP peers without the token.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "analysis/read/recording/growing_trace.h"
#include "collector/link/meeting_place.h"
#include "collector/serve/observer.h"
#include "collector/serve/viewer_port.h"
#include "collector/view/live_link.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

namespace fs = std::filesystem;

class HostilePeers : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("hbmscope-peers-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv(link::token_variable);
    unsetenv(link::token_file_variable);
    fs::remove_all(folder_);
  }

  fs::path folder_;
};

class ByTcp : public HostilePeers {
 protected:
  void SetUp() override {
    HostilePeers::SetUp();
    ASSERT_EQ(recorder.open(folder_ / "r.hbm"), std::nullopt);
    ASSERT_EQ(port.open(), std::nullopt);
    token = *link::make_token();
    ASSERT_EQ(port.open_tcp(address, token), std::nullopt);
    ASSERT_NE(address.port, 0);
    for (int i = 0; i < 1000; ++i) writer.add(wire::CounterRecord{}, i);
    writer.flush();
  }
  int connect() {
    std::string wrong;
    const int peer = link::connect_to(address, wrong);
    EXPECT_GE(peer, 0) << wrong;
    return peer;
  }
  // Returns no value and the number of events received, or the error.
  std::optional<std::string> view(std::uint64_t& events) {
    bool is_over = false;
    std::optional<std::string> wrong;
    std::thread viewer([&] {
      GrowingTrace trace("live");
      view::LiveLink live([&](const wire::SharedBlock& block) { trace.take(block); }, [](const link::Status&) {});
      wrong = live.open(view::socket_of("tcp:" + address.text()));
      for (int i = 0; i < 200 && !wrong && trace.events() < 1000; ++i) live.read(100);
      events = trace.events();
      __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    });
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) port.serve({});
    viewer.join();
    return wrong;
  }

  serve::Recorder recorder;
  serve::ViewerPort port{recorder};
  wire::StreamWriter writer{0, [this](const wire::SharedBlock& block) { recorder.append(*block); }};
  link::TcpAddress address{"127.0.0.1", 0};
  link::Token token{};
};

TEST_F(ByTcp, TheTokenLetsIn) {
  std::uint64_t events = 0;
  setenv(link::token_variable, link::text_from_token(token).c_str(), 1);
  EXPECT_EQ(view(events), std::nullopt);
  EXPECT_EQ(events, 1000U);
  // And from a file that nobody else may read.
  unsetenv(link::token_variable);
  const std::string file = folder_ / "token";
  ASSERT_EQ(link::write_token(file, token), std::nullopt);
  setenv(link::token_file_variable, file.c_str(), 1);
  events = 0;
  EXPECT_EQ(view(events), std::nullopt);
  EXPECT_EQ(events, 1000U);
  EXPECT_TRUE(port.refused().empty());
}

TEST_F(ByTcp, WithoutTheTokenNobodyGetsAByte) {
  std::uint64_t events = 0;
  EXPECT_NE(view(events).value_or("").find("HBMSCOPE_TOKEN"), std::string::npos);
  link::Token other = token;
  other.back() ^= 1;
  setenv(link::token_variable, link::text_from_token(other).c_str(), 1);
  EXPECT_NE(view(events).value_or("").find("the token is of another run"), std::string::npos);
  EXPECT_EQ(events, 0U);
  EXPECT_EQ(port.viewers(), 0U);
  ASSERT_FALSE(port.refused().empty());
  EXPECT_NE(port.refused().back().find("missing or wrong"), std::string::npos);
  // A greeting like that at the user's own socket; and random bytes.
  std::mt19937_64 source(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<char> said(1 + source() % 300);
    for (char& one : said) one = static_cast<char>(source());
    if (round % 3 == 0) std::memcpy(said.data(), link::TokenGreeting{}.magic, std::min<std::size_t>(said.size(), 8));
    const link::Greeting greeting;
    if (round % 5 == 0)
      said.assign(reinterpret_cast<const char*>(&greeting), reinterpret_cast<const char*>(&greeting + 1));
    const int peer = connect();
    send(peer, said.data(), said.size(), MSG_NOSIGNAL);
    port.serve({});
    port.serve({});
    char byte = 0;
    EXPECT_LE(recv(peer, &byte, 1, MSG_DONTWAIT), 0);
    close(peer);
  }
  port.serve({});
  EXPECT_EQ(port.viewers(), 0U);
  EXPECT_LE(port.refused().size(), 100U);
}

TEST_F(ByTcp, ViewersFromElsewhereLeavePlacesForThoseOfThisMachineAndHearWhy) {
  const auto greet = [&](int peer, bool is_by_tcp) {
    link::TokenGreeting secret;
    std::memcpy(secret.token, token.data(), token.size());
    if (is_by_tcp) send(peer, &secret, sizeof(secret), MSG_NOSIGNAL);
    const link::Greeting greeting;
    send(peer, &greeting, sizeof(greeting), MSG_NOSIGNAL);
    for (int turn = 0; turn < 3; ++turn) port.serve({});
    link::Welcome welcome;
    const ssize_t got = recv(peer, &welcome, sizeof(welcome), 0);
    return got == static_cast<ssize_t>(sizeof(welcome)) ? welcome : link::Welcome{.magic = {}, .version = 99};
  };
  std::vector<int> peers;
  for (int i = 0; i < 64; ++i) {
    peers.push_back(connect());
    fcntl(peers.back(), F_SETFL, 0);
    const link::Welcome welcome = greet(peers.back(), true);
    EXPECT_EQ(welcome.version, i < 48 ? link::version : 0U) << i;
    EXPECT_EQ(welcome.session == link::no_place, i >= 48) << i;
  }
  EXPECT_EQ(port.viewers(), 48U);
  std::string wrong;
  for (int i = 0; i < 17; ++i) {
    peers.push_back(link::connect_to(port.socket_path(), SOCK_STREAM, wrong));
    fcntl(peers.back(), F_SETFL, 0);
    EXPECT_EQ(greet(peers.back(), false).version, i < 16 ? link::version : 0U) << i;
  }
  EXPECT_EQ(port.viewers(), 64U);
  // In words.
  std::uint64_t events = 0;
  setenv(link::token_variable, link::text_from_token(token).c_str(), 1);
  EXPECT_NE(view(events).value_or("").find("as many viewers as it serves"), std::string::npos);
  for (const int one : peers) close(one);
}

TEST_F(ByTcp, TenThousandConnectionsAreBoundedAndTakeNobodysPlace) {
  setenv(link::token_variable, link::text_from_token(token).c_str(), 1);
  const auto open_files = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto before = open_files();
  std::vector<int> silent;
  for (int i = 0; i < 10'000; ++i) {
    silent.push_back(connect());
    port.serve({});
    if (silent.size() < 100) continue;
    ASSERT_LE(open_files(), before + 100 + 16) << "of the observer's side sixteen at most are kept";
    for (const int one : silent) close(one);
    silent.clear();
  }
  for (int i = 0; i < 100; ++i) silent.push_back(connect());  // They stay connected while a legitimate viewer connects.
  std::uint64_t events = 0;
  EXPECT_EQ(view(events), std::nullopt);
  EXPECT_EQ(events, 1000U);
  for (const int one : silent) close(one);
  EXPECT_LE(port.refused().size(), 100U);
}

// A peer that connected first and sent the token is not evicted by a flood after it.
TEST_F(ByTcp, AFloodPushesOutNobodyWhoKnowsTheToken) {
  const auto says_all = [&](int peer) {
    link::TokenGreeting known;
    std::memcpy(known.token, token.data(), token.size());
    const link::Greeting greeting;
    send(peer, &known, sizeof(known), MSG_NOSIGNAL);
    send(peer, &greeting, sizeof(greeting), MSG_NOSIGNAL);
  };
  const auto is_welcome = [&](int peer) {
    link::Welcome welcome;
    return recv(peer, &welcome, sizeof(welcome), MSG_DONTWAIT) == static_cast<ssize_t>(sizeof(welcome));
  };
  std::vector<int> flood;
  const auto come = [&](int count) {
    for (int i = 0; i < count; ++i) flood.push_back(connect());
  };
  // Everything waits before the first turn: a peer that has already sent the token,
  const int early = connect();
  says_all(early);
  come(60);
  port.serve({});
  port.serve({});
  EXPECT_TRUE(is_welcome(early));
  // one that is in its place and speaks when the flood is there,
  for (int turn = 0; turn < 10; ++turn) port.serve({});
  const int late = connect();
  port.serve({});
  come(60);
  says_all(late);
  for (int turn = 0; turn < 10; ++turn) port.serve({});
  EXPECT_TRUE(is_welcome(late));
  // and one that has begun to.
  const int begun = connect();
  send(begun, "hbm", 3, MSG_NOSIGNAL);
  port.serve({});
  come(60);
  for (int turn = 0; turn < 10; ++turn) port.serve({});
  char byte = 0;
  EXPECT_EQ(recv(begun, &byte, 1, MSG_DONTWAIT), -1) << "it was not hung up on";
  EXPECT_EQ(port.viewers(), 2U);
  EXPECT_EQ(port.crowded_out(), 180U + 1 - 16);
  EXPECT_TRUE(port.refused().empty());
  for (const int one : {early, late, begun}) close(one);
  for (const int one : flood) close(one);
}

TEST_F(ByTcp, ViewersGetInWhileAFloodGoesOn) {
  setenv(link::token_variable, link::text_from_token(token).c_str(), 1);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> flood;
  for (int i = 0; i < 3; ++i)
    flood.emplace_back([&] {
      std::vector<int> silent;
      std::string wrong;
      while (!is_over) {
        silent.push_back(link::connect_to(address, wrong));
        if (silent.size() < 50) continue;
        for (const int one : silent) close(one);
        silent.clear();
      }
      for (const int one : silent) close(one);
    });
  int served = 0;
  for (int i = 0; i < 10; ++i) {
    std::uint64_t events = 0;
    served += view(events) == std::nullopt && events == 1000 ? 1 : 0;
  }
  is_over = true;
  for (int turn = 0; turn < 100; ++turn) port.serve({});
  for (std::thread& one : flood) one.join();
  EXPECT_EQ(served, 10);
}

TEST(Tcp, AddressesArePortsOfThisMachineUnlessSpelledOut) {
  const auto listens = [](std::string_view text) {
    const auto address = link::listen_address_from(text);
    return address ? address->text() + (link::is_loopback(*address) ? "" : " (others)") : "none";
  };
  EXPECT_EQ(listens("9000"), "127.0.0.1:9000");
  EXPECT_EQ(listens("localhost:9000"), "127.0.0.1:9000");
  EXPECT_EQ(listens("[::1]:9000"), "[::1]:9000");
  EXPECT_EQ(listens("0.0.0.0:9000"), "0.0.0.0:9000 (others)");
  EXPECT_EQ(listens("[::]:9000"), "[::]:9000 (others)");
  for (const char* none : {"", ":9000", "::1:9000", "gpu7:9000", "70000", "9000x", "-1", "*:9000", "127.0.0.1:"})
    EXPECT_EQ(listens(none), "none") << none;
  EXPECT_EQ(link::connect_address_from("gpu7:9000")->text(), "gpu7:9000");
  EXPECT_FALSE(link::connect_address_from("gpu7:0"));
  EXPECT_EQ(view::socket_of("tcp:gpu7:9000"), "tcp:gpu7:9000");
  EXPECT_EQ(view::socket_of("tcp:gpu7"), "");
}

std::atomic<bool> is_cancelled = false;
std::atomic<int> signals = 0;

// Nobody answers there: neither do signals end the wait early, nor is it waited any longer than somebody wants.
TEST(Tcp, AConnectionThatIsNotAnsweredIsWaitedForUntilItIsCancelled) {
  std::string wrong;
  link::TcpAddress address{"127.0.0.1", 0};
  const int listening = link::listen_at(address, wrong);
  ASSERT_GE(listening, 0) << wrong;
  ASSERT_EQ(listen(listening, 0), 0);  // One may wait there, and the next one is not even refused.
  const int first = link::connect_to(address, wrong);
  ASSERT_GE(first, 0) << wrong;
  struct sigaction counts {
  }, before{};
  counts.sa_handler = [](int) {
    if (++signals == 5) is_cancelled = true;
  };
  sigaction(SIGALRM, &counts, &before);
  const itimerval often{{0, 20'000}, {0, 20'000}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_EQ(link::connect_to(address, wrong, &is_cancelled), -1);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(wrong, std::strerror(ECANCELED));
  EXPECT_GE(signals, 5);
  close(first);
  close(listening);
}

TEST_F(HostilePeers, TokensOfFilesThatOthersMayReadAreNotTaken) {
  const link::Token token = *link::make_token();
  const std::string file = folder_ / "token";
  ASSERT_EQ(link::write_token(file, token), std::nullopt);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  setenv(link::token_file_variable, file.c_str(), 1);
  std::string wrong;
  EXPECT_EQ(link::find_token(wrong), token);
  for (const mode_t open : {0640, 0604, 0620}) {
    chmod(file.c_str(), open);
    EXPECT_EQ(link::find_token(wrong), std::nullopt);
    EXPECT_NE(wrong.find("chmod 600"), std::string::npos) << wrong;
  }
  chmod(file.c_str(), 0600);
  if (getuid() == 0) {
    ASSERT_EQ(chown(file.c_str(), 40'001, 40'001), 0);
    EXPECT_EQ(link::find_token(wrong), std::nullopt);
    EXPECT_NE(wrong.find("another user"), std::string::npos) << wrong;
    ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
  }
  setenv(link::token_file_variable, folder_.c_str(), 1);
  EXPECT_EQ(link::find_token(wrong), std::nullopt);
  EXPECT_NE(wrong.find("not a regular file"), std::string::npos) << wrong;
  setenv(link::token_file_variable, file.c_str(), 1);
  std::ofstream(file) << "no token\n";
  EXPECT_EQ(link::find_token(wrong), std::nullopt);
  EXPECT_NE(wrong.find("64 digits"), std::string::npos);
  link::Token other = token;
  EXPECT_TRUE(link::is_same(token, other));
  other.front() ^= 0x80;
  EXPECT_FALSE(link::is_same(token, other));
}

TEST_F(HostilePeers, OnlyARegularFileIsReplacedByAToken) {
  const link::Token token = *link::make_token();
  const fs::path file = folder_ / "token", other = folder_ / "other";
  std::ofstream(other) << "kept\n";
  fs::create_symlink(other, file);
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const fs::path& path : {file, folder_ / "pipe", folder_}) {
    EXPECT_NE(link::write_token(path, token).value_or("").find("not a regular file"), std::string::npos) << path;
    EXPECT_TRUE(fs::exists(fs::symlink_status(path)));
  }
  EXPECT_EQ(link::write_token(other, token), std::nullopt);
  setenv(link::token_file_variable, other.c_str(), 1);
  std::string wrong;
  EXPECT_EQ(link::find_token(wrong), token) << wrong;
}

// For another user, with the folder and the sockets open to everybody: then only the peer's uid decides.
class OtherUsers : public HostilePeers {
 protected:
  static constexpr uid_t ours = 40'001, theirs = 40'002;
  void SetUp() override {
    HostilePeers::SetUp();
    if (getuid() != 0) GTEST_SKIP() << "only root can become other users";
    chmod(folder_.c_str(), 0777);
  }
  // The result of a process of that user, as one letter.
  static char as_user(uid_t user, const std::function<char()>& what) {
    const pid_t child = fork();
    if (child == 0) _exit(setgid(user) == 0 && setuid(user) == 0 ? what() : '?');
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? static_cast<char>(WEXITSTATUS(status)) : '!';
  }
  // An observer of `ours` that serves while `visit` runs, and reports how many peers it refused.
  template <class Serves>
  char refused_while(const Serves& serves, const std::function<void()>& visit) {
    int ends[2];
    if (pipe(ends) != 0) return '!';
    char refused = '!';
    std::thread observer([&] { refused = as_user(ours, [&] { return serves(ends[1]); }); });
    char is_there = 0;
    EXPECT_EQ(read(ends[0], &is_there, 1), 1);
    visit();
    std::ofstream(folder_ / "over") << "over";
    observer.join();
    close(ends[0]);
    close(ends[1]);
    return refused;
  }
  bool is_over() const { return fs::exists(folder_ / "over"); }
  static void open_to_all(const std::string& socket) {
    chmod(fs::path(socket).parent_path().c_str(), 0777);
    chmod(socket.c_str(), 0777);
  }

  fs::path socket_ = folder_;
};

TEST_F(OtherUsers, GetNothingOfTheStream) {
  const std::string named = folder_ / "socket";
  const auto serves = [&](int ready) {
    serve::Recorder recorder;
    serve::ViewerPort port(recorder);
    if (recorder.open(folder_ / "r.hbm") || port.open()) return '?';
    wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) { recorder.append(*block); });
    writer.add(wire::CounterRecord{}, 1);
    writer.flush();
    open_to_all(port.socket_path());
    std::ofstream(named) << port.socket_path();
    if (write(ready, "r", 1) != 1) return '?';
    while (!is_over()) port.serve({});
    return static_cast<char>('0' + port.refused().size());
  };
  // A viewer of ours says itself that it is another user; one that does not look is hung up on.
  const auto visits = [&] {
    std::string socket, wrong;
    std::ifstream(named) >> socket;
    view::LiveLink live([](const wire::SharedBlock&) {}, [](const link::Status&) {});
    const auto refused = live.open(socket);
    if (refused && refused->find("another user") != std::string::npos) {
      const int peer = link::connect_to(socket, SOCK_STREAM, wrong);
      const link::Greeting greeting;
      send(peer, &greeting, sizeof(greeting), MSG_NOSIGNAL);
      for (int i = 0; i < 1000; ++i) {
        char byte = 0;
        const ssize_t got = recv(peer, &byte, 1, MSG_DONTWAIT);
        if (got > 0) return 'g';
        if (got == 0 || errno == ECONNRESET) return 'r';
        usleep(1000);
      }
      return 's';
    }
    for (int i = 0; i < 100 && !refused && live.read(10) && live.place() == 0; ++i) {
    }
    return !refused && live.place() > 0 ? 'y' : '?';
  };
  const char refused = refused_while(serves, [&] {
    EXPECT_EQ(as_user(theirs, visits), 'r');
    EXPECT_EQ(as_user(ours, visits), 'y');
    EXPECT_EQ(as_user(0, visits), 'y');
  });
  EXPECT_EQ(refused, '2') << "the one that looked, and the one that did not";
}

TEST_F(OtherUsers, CanNotBeTheJob) {
  const std::string named = folder_ / "socket";
  const auto serves = [&](int ready) {
    serve::Observer observer([](const wire::SharedBlock&) {});
    if (observer.open()) return '?';
    open_to_all(observer.socket_path());
    std::ofstream(named) << observer.socket_path();
    if (write(ready, "r", 1) != 1) return '?';
    while (!is_over()) observer.serve(1);
    observer.serve(1);
    for (const std::string& why : observer.refused())
      if (why.find("another user") == std::string::npos) return '?';
    return static_cast<char>('0' + observer.refused().size());
  };
  const char refused = refused_while(serves, [&] {
    const char reported = as_user(theirs, [&] {
      std::string socket, wrong;
      std::ifstream(named) >> socket;
      const int peer = link::connect_to(socket, SOCK_SEQPACKET, wrong);
      const wire::Hello hello;
      send(peer, &hello, sizeof(hello), MSG_NOSIGNAL);  // The observer must not wait for this.
      usleep(50'000);
      return peer >= 0 ? 's' : '?';
    });
    EXPECT_EQ(reported, 's');
  });
  EXPECT_EQ(refused, '1');
}

}  // namespace
}  // namespace hbmscope
