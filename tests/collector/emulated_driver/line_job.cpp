// A job that allocates at known source lines. It prints "BYTES FUNCTION LINE" for each frame of each block, innermost
// first; the line is that of the call. It is built with and without debugging information.
//
//   line_job plain       a block through two functions
//   line_job inlined     a block by a function that the compiler has inlined into another
//   line_job compiled    a block by a function that is compiled at run time: NAME of it (the next argument) is written
//   to
//                        /tmp/perf-PID.map, which is removed by whoever started the job
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collector/abi/cuda.h"

using hbmscope::cuda::Address;
using hbmscope::cuda::Result;
using hbmscope::cuda::Size;

// A function that stays one, with a call that is not its last thing to do.
#if defined(__clang__)
#define STAYS __attribute__((noinline))
#else
#define STAYS __attribute__((noinline, noclone, noipa))
#endif

namespace {

Result (*take)(Address*, Size) = nullptr;
volatile int after = 0;

void print(int bytes, const char* function, int line) {
  std::printf("%d %s %d\n", bytes, function, line);
}

}  // namespace

namespace lines {

STAYS void take_some(Size bytes) {
  Address at = 0;
  print(static_cast<int>(bytes), "lines::take_some(unsigned long)", __LINE__ + 1);
  if (take(&at, bytes) != 0) std::abort();
  after = after + 1;
}

STAYS void load_weights(Size bytes) {
  after = after + 1;
  take_some(bytes);
  print(static_cast<int>(bytes), "lines::load_weights(unsigned long)", __LINE__ - 1);
  after = after + 1;
}

__attribute__((always_inline)) inline void innermost(Size bytes) {
  after = after + 1;
  take_some(bytes);
  after = after + 1;
}

__attribute__((always_inline)) inline void between(Size bytes) {
  innermost(bytes);
}

STAYS void with_inlined(Size bytes) {
  after = after + 1;
  between(bytes);
  print(static_cast<int>(bytes), "lines::with_inlined(unsigned long)", __LINE__ - 1);
  after = after + 1;
}

#if defined(__x86_64__)
void take_thirty() {
  take_some(30);
}

// What a just-in-time compiler does: code that keeps a frame pointer and calls a function, and its name for perf.
void run_compiled(const std::string& name) {
  const std::array<unsigned char, 6> code{0x55,              // push rbp
                                          0x48, 0x89, 0xe5,  // mov rbp, rsp
                                          0xff, 0xd7};       // call rdi
  const std::array<unsigned char, 2> end{0x5d, 0xc3};        // pop rbp; ret
  const Size bytes = 4096;
  auto* memory = static_cast<unsigned char*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) std::abort();
  std::memcpy(memory + 64, code.data(), code.size());
  std::memcpy(memory + 64 + code.size(), end.data(), end.size());
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::FILE* map = std::fopen(path.c_str(), "w");
  if (map == nullptr) std::abort();
  std::fprintf(map, "%llx 40 before_it\n", static_cast<unsigned long long>(reinterpret_cast<Address>(memory)));
  std::fprintf(map, "%llx 40 %s\n", static_cast<unsigned long long>(reinterpret_cast<Address>(memory + 64)),
               name.c_str());
  std::fclose(map);
  // The tests of other users' files: the owner of a file may be changed by root only.
  if (const char* owner = std::getenv("MAP_OWNER"))
    if (chown(path.c_str(), static_cast<uid_t>(std::atoi(owner)), 0) != 0) std::abort();
  reinterpret_cast<void (*)(void (*)())>(memory + 64)(take_thirty);
}
#endif

}  // namespace lines

int main(int argc, char** argv) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr || argc < 2) return 2;
  take = reinterpret_cast<decltype(take)>(dlsym(driver, "cuMemAlloc_v2"));
  const std::string how = argv[1];
  if (how == "plain") {
    lines::load_weights(10);
    print(10, "main", __LINE__ - 1);
  } else if (how == "inlined") {
    lines::with_inlined(20);
    print(20, "main", __LINE__ - 1);
#if defined(__x86_64__)
  } else if (how == "compiled" && argc > 2) {
    std::printf("%d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
    lines::run_compiled(argv[2]);
#endif
  } else {
    return 2;
  }
  return 0;
}
