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
