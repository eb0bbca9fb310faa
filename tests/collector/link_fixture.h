// An observer's port and its viewers, all in one process, for tests of the link between them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "analysis/read/recording/growing_trace.h"
#include "collector/serve/viewer_port.h"
#include "collector/view/live_link.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {

class Viewer {
 public:
  bool open(const std::string& socket) {
    trace.expect_skips();
    link_ = std::make_unique<view::LiveLink>([this](const wire::SharedBlock& block) { trace.take(block); },
                                             [this](const link::Status& status) { last = status; });
    return !link_->open(socket);
  }
  bool open_again(const std::string& socket) { return !link_->open(socket); }
  bool read() { return link_->read(0); }
  void ask(link::RequestKind kind) { link_->request(kind); }
  const std::string& why() const { return link_->why(); }
  std::uint64_t events() const { return trace.events(); }

  GrowingTrace trace{"live"};
  link::Status last;

 private:
  std::unique_ptr<view::LiveLink> link_;
};

class LinkTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("hbmscope-view-test-" + std::to_string(getpid()));
    // Longer than the address of a socket may be.
    folder_ /= std::string(60, 'l');
    folder_ /= std::string(60, 'l');
    std::filesystem::create_directories(folder_);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    ASSERT_EQ(recorder.open(folder_ / "r.hbm"), std::nullopt);
    ASSERT_EQ(port.open(), std::nullopt);
  }
  void TearDown() override { std::filesystem::remove_all(folder_.parent_path().parent_path()); }

  // Records that many events, in blocks of at most 1,000.
  void record(int events) {
    if (heap_ == 0) {
      wire::HeapRecord heap;
      heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::is_complete_at_start;
      heap_ = writer.define_heap(heap, "pool", "device");
    }
    for (int i = 0; i < events; ++i) {
      wire::AllocRecord block;
      block.heap = heap_;
      block.address = (++allocated_) * 512;
      block.size = 512;
      writer.alloc(block, static_cast<std::int64_t>(allocated_));
      if (i % 1000 == 999) writer.flush();
    }
    writer.flush();
  }
  void turn(Viewer& viewer, int turns = 1) {
    for (int i = 0; i < turns; ++i) {
      port.serve({});
      viewer.read();
    }
  }

  std::filesystem::path folder_;
  serve::Recorder recorder;
  serve::ViewerPort port{recorder};
  wire::StreamWriter writer{0, [this](const wire::SharedBlock& block) { recorder.append(*block); }};
  std::uint32_t heap_ = 0;
  std::uint64_t allocated_ = 0;
};

}  // namespace hbmscope
