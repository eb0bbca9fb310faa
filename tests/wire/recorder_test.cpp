// The fate of a recording when its writer is killed, when the disk is full, and when the file changes under its reader.
// Real processes, real files: what counts is what remains after an abrupt end.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "analysis/read/file_bytes.h"
#include "analysis/read/recording/read_recording.h"
#include "collector/wire/block_decoder.h"
#include "collector/wire/recording_file.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::wire {
namespace {

using Random = std::mt19937_64;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t bytes_max = std::uint64_t{1} << 30;

struct RecorderFile {
  explicit RecorderFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("hbmscope_" + name + "_" + std::to_string(getpid()) + ".hbm"))
                 .string()) {}
  ~RecorderFile() { std::filesystem::remove(path); }
  RecorderFile(RecorderFile&& other) noexcept = default;
  RecorderFile& operator=(RecorderFile&&) = delete;
  std::string path;
};

// Steady, of the system: the same clock in the child and here.
std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint64_t address_of_event(std::uint64_t number) {
  return (number + 1) * 4096;
}

// A recorder as small as one can be: a stream into a file.
class Recorder {
 public:
  explicit Recorder(const std::string& path)
      : writer_(0, [this](const SharedBlock& block) {
          failure_ = file_.append(*block);
          if (!failure_) whole_events_ = block->end_event();
        }) {
    failure_ = file_.open(path);
  }
  StreamWriter& stream() { return writer_; }
  // Events whose block is written.
  std::uint64_t whole_events() const { return whole_events_; }
  std::optional<std::string> failure() const { return failure_; }
  std::optional<std::string> finish() { return file_.finish(); }

  std::uint64_t alloc(std::int64_t time_ns) {
    AllocRecord block;
    block.address = address_of_event(writer_.next_event());
    block.size = 512;
    return writer_.alloc(block, time_ns);
  }

 private:
  RecordingWriter file_;
  StreamWriter writer_;
  std::uint64_t whole_events_ = 0;
  std::optional<std::string> failure_;
};

// What the child reports on its pipe after each action.
struct Reported {
  std::uint64_t events = 0;  // Accepted by the writer, or written in complete blocks.
  std::int64_t time_ns = 0;
  bool is_round = false;  // The time was passed to the writer; otherwise an event.
};

class Child {
 public:
  template <class Work>
  Child(const std::string& path, const Work& work) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      // If the test dies, the child must not run forever.
      alarm(60);
      Recorder recorder(path);
      work(recorder, [&](const Reported& reported) {
        if (write(ends[1], &reported, sizeof(reported)) != sizeof(reported)) _exit(1);
      });
      _exit(0);
    }
    close(ends[1]);
    report_fd_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) kill_and_listen();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void wait_until_it_speaks() const {
    pollfd wanted{report_fd_, POLLIN, 0};
    ASSERT_EQ(1, poll(&wanted, 1, 30'000)) << "the child never came to write anything";
  }

  std::vector<Reported> kill_and_listen() {
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it was to be killed, and ended by itself";
    pid_ = 0;
    std::vector<Reported> all;
    for (Reported reported; ::read(report_fd_, &reported, sizeof(reported)) == sizeof(reported);)
      all.push_back(reported);
    close(report_fd_);
    return all;
  }

 private:
  pid_t pid_ = 0;
  int report_fd_ = -1;
};

Bytes bytes_of_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Found {
  std::optional<RecordingScan> scan;
  std::vector<std::int64_t> times_ns;  // Of all events, from the first on.
  std::uint64_t blocks = 0, whole_bytes = 0;
};

// Fails where an event is missing before another, or is not what the recorder wrote.
Found find_events(const Bytes& bytes) {
  Found found;
  found.whole_bytes = sizeof(FileHeader);
  BlockDecoder decoder;
  DecodedBlock decoded;
  found.scan = scan_recording(bytes.data(), bytes.size(), [&](const SharedBlock& block) {
    EXPECT_EQ(std::nullopt, decoder.decode(*block, decoded));
    EXPECT_EQ(found.times_ns.size(), block->header.first_event);
    EXPECT_EQ(found.blocks, block->header.sequence);
    for (const AllocRecord& row : decoded.rows<AllocRecord>()) {
      EXPECT_EQ(address_of_event(found.times_ns.size()), row.address);
      found.times_ns.push_back(decoded.times_ns()[found.times_ns.size() - block->header.first_event]);
    }
    ++found.blocks;
    found.whole_bytes += sizeof(BlockHeader) + block->payload.size();
    return true;
  });
  return found;
}

// As a user opens it: all complete blocks, and a note that the recording is incomplete.
void expect_opens_as_unfinished(const std::string& path, const Found& found, std::uint64_t file_bytes) {
  const auto file = read_file(path, bytes_max);
  ASSERT_TRUE(file) << file.error().text();
  const auto trace = read_recording(file->bytes(), path);
  if (found.blocks == 0) {
    ASSERT_FALSE(trace);
    EXPECT_NE(std::string::npos, trace.error().text().find("record again"));
    return;
  }
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(found.times_ns.size(), trace->streams.at(0).end_position());
  EXPECT_EQ(1, trace->import.count_of("not_finished"));
  EXPECT_EQ(static_cast<std::int64_t>(file_bytes - found.whole_bytes), trace->import.count_of("lost_bytes"));
}

TEST(Recorder, killed_at_ten_events_a_second_it_loses_the_last_second_at_most) {
  Random random(std::random_device{}());
  constexpr std::size_t tries = 8;
  std::vector<RecorderFile> files;
  std::vector<std::unique_ptr<Child>> children;
  for (std::size_t i = 0; i < tries; ++i) {
    files.emplace_back("slow" + std::to_string(i));
    children.push_back(std::make_unique<Child>(files.back().path, [](Recorder& recorder, const auto& report) {
      for (std::uint64_t round = 0;; ++round) {
        const std::int64_t now = now_ns();
        if (round % 10 == 0) report({recorder.alloc(now) + 1, now, false});
        recorder.stream().flush_if_older(now, block_age_ns_file);
        report({recorder.stream().next_event(), now, true});
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }));
  }
  std::size_t opened = 0, reported_events = 0, lost_events = 0;
  for (std::size_t i = 0; i < tries; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random() % 200));
    const std::vector<Reported> all = children[i]->kill_and_listen();
    std::int64_t last_round_ns = std::numeric_limits<std::int64_t>::min();
    std::vector<std::int64_t> event_times;
    for (const Reported& reported : all) {
      if (reported.is_round)
        last_round_ns = reported.time_ns;
      else
        event_times.push_back(reported.time_ns);
    }
    const Bytes bytes = bytes_of_file(files[i].path);
    const Found found = find_events(bytes);
    ASSERT_TRUE(found.scan) << "the header is there from the beginning";
    EXPECT_FALSE(found.scan->has_index);
    // Counts events in the file, events that the child reported, and those in between.
    ASSERT_LE(found.times_ns.size(), event_times.size() + 1) << "the last one may have come untold";
    for (std::size_t event = 0; event < event_times.size(); ++event) {
      if (event < found.times_ns.size()) {
        ASSERT_EQ(event_times[event], found.times_ns[event]);
      } else {
        ASSERT_GT(event_times[event], last_round_ns - block_age_ns_file)
            << "event " << event << " of " << event_times.size() << " is lost and was older than a second";
      }
    }
    if (!found.times_ns.empty()) ++opened;
    reported_events += event_times.size();
    lost_events += event_times.size() - std::min(event_times.size(), found.times_ns.size());
    expect_opens_as_unfinished(files[i].path, found, bytes.size());
  }
  EXPECT_GE(opened, tries / 2) << "most of them lived for longer than a second";
  RecordProperty("told_events", static_cast<int>(reported_events));
  RecordProperty("lost_events", static_cast<int>(lost_events));
}

TEST(Recorder, killed_at_full_speed_it_opens_to_the_last_whole_block) {
  Random random(std::random_device{}());
  for (int i = 0; i < 12; ++i) {
    const RecorderFile file("fast");
    Child child(file.path, [](Recorder& recorder, const auto& report) {
      std::uint64_t reported = 0;
      while (true) {
        recorder.alloc(now_ns());
        if (recorder.whole_events() == reported) continue;
        reported = recorder.whole_events();
        report({reported, 0, true});
      }
    });
    child.wait_until_it_speaks();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    const std::vector<Reported> all = child.kill_and_listen();
    ASSERT_FALSE(all.empty());
    const Bytes bytes = bytes_of_file(file.path);
    const Found found = find_events(bytes);
    ASSERT_TRUE(found.scan);
    EXPECT_FALSE(found.scan->has_index);
    EXPECT_GE(found.times_ns.size(), all.back().events) << "what was told as written is there";
    EXPECT_LE(found.times_ns.size(), all.back().events + block_events_max) << "nothing is there twice";
    EXPECT_EQ(bytes.size() - found.whole_bytes, found.scan->lost_bytes);
    expect_opens_as_unfinished(file.path, found, bytes.size());
  }
}

// A disk with that much room, as far as this process is concerned.
class FullDisk {
 public:
  explicit FullDisk(std::uint64_t bytes) {
    before_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit smaller{bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &smaller);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    signal(SIGXFSZ, before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit limit_{};
  void (*before_)(int) = nullptr;
};

TEST(Recorder, a_full_disk_is_reported_with_the_systems_reason) {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const RecorderFile file("full_disk");
    const std::uint64_t room = i < 40 ? static_cast<std::uint64_t>(i) : random() % 20'000;
    const auto record = [&](Recorder& recorder, int blocks) {
      for (int block = 0; block < blocks; ++block) {
        for (int event = 0; event < 300; ++event) recorder.alloc(static_cast<std::int64_t>(random() % 1'000'000'000));
        recorder.stream().flush();
      }
    };
    std::unique_ptr<Recorder> recorder;
    {
      const FullDisk disk(room);
      recorder = std::make_unique<Recorder>(file.path);
      record(*recorder, 30);
    }
    ASSERT_EQ(std::strerror(EFBIG), recorder->failure()) << room;
    const std::uint64_t whole = recorder->whole_events();
    // There is room again, and a hole: new blocks must not be written after it.
    record(*recorder, 2);
    EXPECT_EQ(std::strerror(EFBIG), recorder->failure());
    EXPECT_EQ(std::strerror(EFBIG), recorder->finish());
    EXPECT_EQ(whole, recorder->whole_events());

    const Bytes bytes = bytes_of_file(file.path);
    EXPECT_LE(bytes.size(), room);
    const Found found = find_events(bytes);
    ASSERT_EQ(room >= sizeof(FileHeader), found.scan.has_value()) << room;
    if (!found.scan) {
      const auto trace = read_recording(bytes, file.path);
      ASSERT_FALSE(trace);
      EXPECT_EQ(!bytes.empty(), trace.error().text().find("disk may have been full") != std::string::npos)
          << bytes.size();
      continue;
    }
    EXPECT_EQ(whole, found.times_ns.size()) << room;
    EXPECT_EQ(bytes.size() - found.whole_bytes, found.scan->lost_bytes);
    expect_opens_as_unfinished(file.path, found, bytes.size());
  }
}

TEST(Recorder, a_disk_too_small_for_the_index_loses_the_index_only) {
  const RecorderFile file("full_disk_at_the_end");
  Recorder recorder(file.path);
  for (int event = 0; event < 1000; ++event) recorder.alloc(event);
  recorder.stream().flush();
  const std::uint64_t bytes = std::filesystem::file_size(file.path);
  {
    const FullDisk disk(bytes + 10);
    EXPECT_EQ(std::strerror(EFBIG), recorder.finish());
  }
  const Found found = find_events(bytes_of_file(file.path));
  ASSERT_TRUE(found.scan);
  EXPECT_EQ(1000U, found.times_ns.size());
  EXPECT_FALSE(found.scan->has_index);
}

// Some megabytes, so that a reader needs several reads for it.
Bytes make_large_recording(const std::string& path) {
  Random random(9);
  RecordingWriter file;
  EXPECT_EQ(std::nullopt, file.open(path));
  BlockEncoder encoder;
  for (int block = 0; block < 200; ++block) {
    for (int i = 0; i < 6000; ++i) {
      AllocRecord record;
      record.address = random();
      encoder.add(record, i);
    }
    EXPECT_EQ(std::nullopt, file.append(encoder.close()));
  }
  EXPECT_EQ(std::nullopt, file.finish());
  return bytes_of_file(path);
}

TEST(Recorder, a_file_that_shrinks_and_grows_under_its_reader_is_partial_and_says_so) {
  const RecorderFile file("changing");
  const Bytes whole = make_large_recording(file.path);
  ASSERT_GT(whole.size(), std::size_t{8} << 20);
  std::atomic<bool> done{false};
  std::thread changer([&] {
    Random random(5);
    while (!done) {
      const std::size_t size = random() % whole.size();
      std::filesystem::resize_file(file.path, size);
      // As after a system crash: the length is there, but the bytes are not.
      if (random() % 2 == 0) std::filesystem::resize_file(file.path, size + random() % (whole.size() - size));
      std::ofstream stream(file.path, std::ios::binary | std::ios::in | std::ios::out);
      stream.seekp(static_cast<std::streamoff>(size));
      for (std::size_t at = size; at < whole.size(); at += 100'000)
        stream.write(reinterpret_cast<const char*>(whole.data() + at),
                     static_cast<std::streamsize>(std::min<std::size_t>(100'000, whole.size() - at)));
    }
  });
  int partial = 0, complete = 0;
  for (int i = 0; i < 150; ++i) {
    const auto read = read_file(file.path, bytes_max);
    if (!read) continue;  // Empty at that time: an error text.
    std::uint64_t blocks = 0;
    const auto scan =
        scan_recording(read->bytes().data(), read->bytes().size(), [&](const SharedBlock&) { return ++blocks > 0; });
    if (!scan) continue;
    if (blocks == 200) {
      ++complete;
      continue;
    }
    ++partial;
    EXPECT_TRUE(!scan->has_index || scan->lost_bytes > 0);
    if (i % 30 != 0 || blocks == 0) continue;
    const auto trace = read_recording(read->bytes(), file.path);
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_GT(trace->import.count_of("not_finished") + trace->import.count_of("lost_bytes"), 0);
  }
  done = true;
  changer.join();
  EXPECT_GT(partial, 0);
  RecordProperty("partial", partial);
  RecordProperty("complete", complete);
}

TEST(Recorder, a_recording_can_be_read_while_it_is_written) {
  const RecorderFile file("growing");
  Recorder recorder(file.path);
  std::uint64_t seen = 0;
  for (int block = 1; block <= 40; ++block) {
    for (int event = 0; event < 100; ++event) recorder.alloc(event);
    recorder.stream().flush();
    const Bytes bytes = bytes_of_file(file.path);
    const Found found = find_events(bytes);
    ASSERT_TRUE(found.scan);
    EXPECT_EQ(found.times_ns.size(), seen += 100);
    expect_opens_as_unfinished(file.path, found, bytes.size());
  }
  EXPECT_EQ(std::nullopt, recorder.finish());
  const Found found = find_events(bytes_of_file(file.path));
  EXPECT_TRUE(found.scan->has_index);
  EXPECT_EQ(seen, found.times_ns.size());
}

}  // namespace
}  // namespace hbmscope::wire
