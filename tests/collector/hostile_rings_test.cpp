// Jobs whose shared memory is not what it should be, by a bug or on purpose.
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/collector/rings_fixture.h"

namespace hbmscope {
namespace {

using HostileRings = Rings;

// A bug in the job may overwrite the counts; they are shared memory.
// The newest rings are those with the highest inode.
wire::RingsHeader* header_of_rings() {
  std::ifstream maps("/proc/self/maps");
  std::uint64_t newest = 0, at = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device;
    std::uint64_t inode = 0;
    words >> range >> rights >> offset >> device >> inode;
    if (line.find("memfd:hbmscope") == std::string::npos || rights != "rw-s" || inode <= newest) continue;
    newest = inode;
    at = std::stoull(range, nullptr, 16);
  }
  return reinterpret_cast<wire::RingsHeader*>(at);
}

TEST_F(HostileRings, a_loss_that_nobody_can_have_had_is_not_counted_as_one) {
  for (const bool is_of_ring : {true, false}) {
    inject::rings.forget();
    connect();
    const std::uint64_t before = observer.totals().lost;
    ASSERT_TRUE(alloc(512));
    wire::RingsHeader* header = header_of_rings();
    ASSERT_NE(header, nullptr);
    auto* ring = reinterpret_cast<wire::RingHeader*>(reinterpret_cast<char*>(header) + header->rings_offset);
    observer.serve(0);
    (is_of_ring ? ring->lost : header->events_without_ring) = 0xfab0'0000'0000'0000;
    observer.serve(0);
    observer.serve(0);
    const auto process = observer.processes().back();
    EXPECT_TRUE(process.is_broken);
    EXPECT_EQ(observer.totals().lost, before + 1);
  }
  EXPECT_EQ(observer.totals().lost, 2U);
}

TEST_F(HostileRings, events_are_counted_as_a_reader_of_the_recording_does) {
  connect();
  ASSERT_TRUE(alloc(512));
  ASSERT_TRUE(alloc(512));  // The free between them was missed.
  ASSERT_TRUE(free(512));
  ASSERT_TRUE(free(512));
  wire::MarkerRecord mark;
  ASSERT_TRUE(inject::rings.add(mark));
  wire::CounterRecord figure;
  ASSERT_TRUE(inject::rings.add(figure));
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, stream.counts().total);
  EXPECT_EQ(observer.processes().at(0).events, 4U);
}

// Padding in small pieces would take a second for each gigabyte.
TEST_F(HostileRings, padding_that_is_not_at_the_end_is_no_padding) {
  connect();
  ASSERT_TRUE(alloc(512));
  wire::RingsHeader* header = header_of_rings();
  ASSERT_NE(header, nullptr);
  auto* ring = reinterpret_cast<wire::RingHeader*>(reinterpret_cast<char*>(header) + header->rings_offset);
  observer.serve(0);
  ASSERT_FALSE(observer.processes().at(0).is_broken);
  wire::RowHeader small;
  small.words = 1;
  std::memcpy(reinterpret_cast<char*>(ring + 1) + ring->head, &small, 8);
  ring->head += 8;
  observer.serve(0);
  EXPECT_TRUE(observer.processes().at(0).is_broken);
}

TEST_F(HostileRings, a_round_takes_a_bounded_number_of_rows) {
  // Threads of one process, each with a full ring; the job still runs, so it is not the last round.
  connect();
  std::vector<std::thread> threads;
  std::latch are_full(20);
  std::atomic<bool> is_over{false};
  for (int i = 0; i < 20; ++i)
    threads.emplace_back([&, i] {
      for (std::uint64_t k = 0; k < 100'000; ++k) alloc((std::uint64_t{1} << 40) * (i + 1) + k * 512);
      are_full.count_down();
      while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  are_full.wait();
  observer.serve(0);
  const std::uint64_t first = observer.processes().at(0).events;
  EXPECT_GT(first, 100'000U);
  EXPECT_LE(first, 1U << 20);
  for (int i = 0; i < 100 && observer.processes().at(0).events < 2'000'000; ++i) observer.serve(0);
  EXPECT_EQ(observer.processes().at(0).events, 2'000'000U);
  EXPECT_EQ(observer.processes().at(0).lost, 0U);
  is_over = true;
  for (std::thread& one : threads) one.join();
}

// Touching it would end the observer with SIGBUS: there is no free huge page.
TEST_F(HostileRings, memory_in_huge_pages_is_refused) {
  const int huge = memfd_create("test", MFD_HUGETLB | MFD_ALLOW_SEALING);
  if (huge < 0 || ftruncate(huge, off_t{1} << 36) != 0) GTEST_SKIP() << "the kernel has no memfd in huge pages";
  ASSERT_EQ(fcntl(huge, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  const wire::Hello hello;
  knock(&hello, sizeof(hello), huge);
  close(huge);
  EXPECT_TRUE(observer.processes().empty());
  ASSERT_EQ(observer.refused().size(), 1U);
  EXPECT_NE(observer.refused()[0].find("not of a kind that can be read safely"), std::string::npos)
      << observer.refused()[0];
}

// Neither is a file on a disk, which an error of the disk makes unreadable, nor a pipe nor a device; and a memfd that
// may still shrink, or is smaller than the head of the rings, is turned away as well.
TEST_F(HostileRings, files_that_are_no_sealed_shared_memory_are_refused) {
  const wire::Hello hello;
  const auto refused_with = [&](int file) {
    const std::size_t before = observer.refused().size();
    knock(&hello, sizeof(hello), file);
    return observer.refused().size() > before ? observer.refused().back() : std::string("it was taken");
  };
  const auto memory = [](off_t bytes, int seals) {
    const int file = memfd_create("test", MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(file, bytes), 0);
    EXPECT_EQ(fcntl(file, F_ADD_SEALS, seals), 0);
    return file;
  };
  EXPECT_NE(refused_with(memory(64, F_SEAL_SHRINK)).find("too small"), std::string::npos);
  EXPECT_NE(refused_with(memory(1 << 20, F_SEAL_GROW)).find("could shrink"), std::string::npos);
  EXPECT_NE(refused_with(memory(1 << 20, F_SEAL_SHRINK | F_SEAL_WRITE)).find("cannot map"), std::string::npos);
  EXPECT_NE(refused_with(memory(1 << 20, F_SEAL_SHRINK)).find("another version"), std::string::npos);
  for (const char* path : {"/dev/null", "/dev/zero", "/proc/self/exe", "/proc/self/status"})
    EXPECT_NE(refused_with(::open(path, O_RDONLY)).find("process "), std::string::npos) << path;
  EXPECT_TRUE(observer.processes().empty());
}

}  // namespace
}  // namespace hbmscope
