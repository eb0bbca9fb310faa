// Rings that are written, and an observer that reads them, in one process.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "analysis/trace/stream.h"
#include "collector/inject/rings.h"
#include "collector/serve/observer.h"

namespace hbmscope {

class Rings : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("hbmscope-serve-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    ASSERT_EQ(std::nullopt, observer.open());
    // Each test acts as a separate job; mappings of the previous test stay, as after a fork.
    inject::rings.forget();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void connect() {
    ASSERT_STREQ(nullptr, inject::rings.open(observer.socket_path().c_str()));
    wire::HeapRecord heap;
    heap.flags = wire::heap_flag::has_addresses;
    ASSERT_EQ(inject::rings.define_heap(heap, "pool", "device"), 1U);
    observer.serve(0);
  }

  static bool alloc(std::uint64_t address) {
    wire::AllocRecord record;
    record.address = address;
    record.size = 512;
    record.heap = 1;
    return inject::rings.add(record);
  }
  static bool take_of_driver(std::uint64_t address) {
    wire::AllocRecord record;
    record.address = address;
    record.size = 512;
    record.heap = 1;
    record.flags = wire::driver_block;
    return inject::rings.add_of_driver(record);
  }
  static bool free(std::uint64_t address) {
    wire::FreeAtRecord record;
    record.address = address;
    record.heap = 1;
    return inject::rings.add(record);
  }

  // Connects without identifying itself.
  int come() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, observer.socket_path().c_str());
    const int peer = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT_EQ(::connect(peer, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return peer;
  }

  // Sends a hello with a file that is not valid shared memory.
  static void say(int peer, const void* bytes, std::size_t size, int file) {
    iovec part{const_cast<void*>(bytes), size};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (file >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
    }
    ASSERT_EQ(sendmsg(peer, &message, 0), static_cast<ssize_t>(size));
  }

  void knock(const void* bytes, std::size_t size, int file) {
    const int peer = come();
    say(peer, bytes, size, file);
    observer.serve(0);
    close(peer);
  }

  Stream stream;
  serve::Observer observer{[this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); }};

 private:
  std::filesystem::path folder_;
};

}  // namespace hbmscope
