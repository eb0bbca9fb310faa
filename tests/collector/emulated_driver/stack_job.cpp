// A job with functions of known names, whose driver calls have known stacks.
//
//   stack_job HOW [NUMBER]
//
//   plain     two functions allocate a block each, one of them through the other; a third frees one
//   recursion NUMBER recursive calls of one function; the last one allocates a block
//   threads   NUMBER threads, each in its own function, with the smallest possible stack
//   many      NUMBER blocks, each with a unique stack
//   fork      one block by the parent, one by its child
//   gone      removes its own file, and allocates a block
//   killed    a block, and then SIGKILL
//   library   a block by a constructor of the library that STACK_LIBRARY names, while dlopen loads it; then it is
//             closed, and the program allocates another
//   churn     NUMBER pairs of calls from eight threads, while another loads and closes that library
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

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
Result (*give)(Address) = nullptr;
volatile int after = 0;
}  // namespace

namespace job {

STAYS Address take_some(Size bytes) {
  Address at = 0;
  if (take(&at, bytes) != 0) std::abort();
  after = after + 1;
  return at;
}

struct Model {
  STAYS Address load_weights(int layers) {
    const Address at = take_some(static_cast<Size>(layers) * 1000);
    after = after + 1;
    return at;
  }
};

STAYS void free_it(Address at) {
  if (give(at) != 0) std::abort();
  after = after + 1;
}

STAYS void descend(int levels) {
  if (levels > 1)
    descend(levels - 1);
  else
    take_some(7);
  after = after + 1;
}

STAYS void right(unsigned bits, int levels);

STAYS void left(unsigned bits, int levels) {
  if (levels == 0)
    take_some(3);
  else if ((bits & 1) != 0)
    right(bits >> 1, levels - 1);
  else
    left(bits >> 1, levels - 1);
  after = after + 1;
}

STAYS void right(unsigned bits, int levels) {
  if (levels == 0)
    take_some(3);
  else if ((bits & 1) != 0)
    right(bits >> 1, levels - 1);
  else
    left(bits >> 1, levels - 1);
  after = after + 1;
}

template <int number>
STAYS void* run_thread(void*) {
  take_some(static_cast<Size>(100 + number));
  after = after + 1;
  return nullptr;
}

STAYS void start_threads(int rounds) {
  void* (*const functions[])(void*) = {run_thread<0>, run_thread<1>, run_thread<2>, run_thread<3>};
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  pthread_attr_setstacksize(&smallest, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  for (int i = 0; i < rounds; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &smallest, functions[i % 4], nullptr) != 0) std::abort();
    pthread_join(thread, nullptr);
  }
}

STAYS void use_library() {
  void* library = dlopen(std::getenv("STACK_LIBRARY"), RTLD_NOW);
  if (library == nullptr) std::abort();
  dlclose(library);
}

STAYS void churn(int pairs) {
  std::atomic<bool> is_over{false};
  std::thread loader([&] {
    while (!is_over) use_library();
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int pair = 0; pair < pairs; ++pair) free_it(take_some(64));
    });
  for (std::thread& thread : threads) thread.join();
  is_over = true;
  loader.join();
}

}  // namespace job

int main(int argc, char** argv) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr || argc < 2) return 2;
  take = reinterpret_cast<decltype(take)>(dlsym(driver, "cuMemAlloc_v2"));
  give = reinterpret_cast<decltype(give)>(dlsym(driver, "cuMemFree_v2"));
  const std::string how = argv[1];
  const int number = argc > 2 ? std::atoi(argv[2]) : 1;
  if (how == "plain") {
    job::take_some(10);
    job::free_it(job::Model().load_weights(3));
  } else if (how == "recursion") {
    job::descend(number);
  } else if (how == "threads") {
    job::start_threads(number);
  } else if (how == "many") {
    for (int i = 0; i < number; ++i) job::left(static_cast<unsigned>(i), 17);
  } else if (how == "fork") {
    job::take_some(1);
    const pid_t child = fork();
    if (child == 0) {
      job::Model().load_weights(2);
      _exit(0);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
  } else if (how == "gone") {
    if (unlink(argv[0]) != 0) return 1;
    job::take_some(1);
  } else if (how == "killed") {
    job::Model().load_weights(1);
    raise(SIGKILL);
  } else if (how == "library") {
    job::use_library();
    job::take_some(5);
  } else if (how == "churn") {
    job::churn(number);
  } else {
    return 2;
  }
  return 0;
}
