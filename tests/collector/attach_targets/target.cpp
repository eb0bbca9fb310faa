// A program that is attached to while it does one thing for a while, and then prints its result: the same whether
// anybody attached or not.
//
//   attach_target KIND SECONDS      (SIGUSR2 ends it)
//                 KIND: malloc, loop, sleep, doze, receive, signals, pressure, annotated, sandbox
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "collector/annotate/hbmscope.h"

namespace {

using Body = std::uint64_t (*)(std::uint64_t turn);

double now() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

std::atomic<int> is_stopped{0};

void end(int) {
  is_stopped = 1;
}

// Whatever the time gave room for, the result is that of one turn: each one must come to the same. SIGUSR2 ends it, and
// may cut the last one short.
bool repeat(Body body, double until) {
  const std::uint64_t wanted = body(0);
  bool is_same = true;
  while (now() < until && is_stopped == 0) {
    const bool is_as_before = body(0) == wanted;
    is_same = is_same && (is_as_before || is_stopped != 0);
  }
  return is_same;
}

std::uint64_t hammer_malloc(std::uint64_t) {
  std::uint64_t sum = 0, draw = 88172645463325252ULL;
  std::vector<unsigned char*> kept(64);
  for (int i = 0; i < 4096; ++i) {
    draw ^= draw << 13, draw ^= draw >> 7, draw ^= draw << 17;
    unsigned char*& one = kept[draw % kept.size()];
    if (one != nullptr) sum += one[0], free(one);
    const std::size_t bytes = 16 + draw % 65536;
    one = static_cast<unsigned char*>(malloc(bytes));
    one[0] = static_cast<unsigned char>(draw);
  }
  for (unsigned char* one : kept) free(one);
  return sum;
}

// Vector registers, flags and the red zone hold what counts.
std::uint64_t compute(std::uint64_t) {
  double x = 0.5, y = 0.25;
  std::uint64_t mix = 1;
  float many[64];
  for (int i = 0; i < 64; ++i) many[i] = static_cast<float>(i);
  for (int i = 0; i < 20'000; ++i) {
    x = std::sin(x) + y;
    y = y * 0.999 + x * 1e-3;
    for (float& one : many) one = one * 1.0001F + 0.5F;
    mix = mix * 6364136223846793005ULL + 1442695040888963407ULL;
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  for (const float one : many) mix += static_cast<std::uint64_t>(one);
  return bits ^ mix;
}

std::uint64_t sleep_a_while(std::uint64_t) {
  const double begun = now();
  const timespec step{0, 50'000'000};
  if (nanosleep(&step, nullptr) != 0) return 1;  // Cut short: nobody here handles signals.
  return now() - begun < 0.05 ? 2 : 0;
}

// One sleep for the whole time, which must continue after a stop.
std::uint64_t doze(std::uint64_t) {
  const timespec step{3600, 0};
  const bool was_cut = nanosleep(&step, nullptr) != 0;
  return was_cut && is_stopped == 0 ? 1 : 0;
}

// A socket's timeout makes a stop end its call (signal(7)), so this thread must not be stopped.
int receive_and_compute(double until) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  int wrong = 0;
  sigset_t ending, before;
  sigemptyset(&ending);
  sigaddset(&ending, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &ending, &before);  // It is not the receiver's.
  std::thread receiver([&] {
    const timeval limit{3600, 0};
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    char byte = 0;
    if (recv(ends[0], &byte, 1, 0) != 1 || byte != 'x') ++wrong;
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const bool is_same = repeat(compute, until);
  if (write(ends[1], "x", 1) != 1) ++wrong;
  receiver.join();
  return wrong + (is_same ? 0 : 1);
}

std::atomic<std::uint64_t> signals_handled{0};

void handle(int) {
  signals_handled.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t map_and_unmap(std::uint64_t) {
  std::uint64_t sum = 0;
  for (int i = 0; i < 16; ++i) {
    constexpr std::size_t bytes = std::size_t{4} << 20;
    auto* at =
        static_cast<unsigned char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (at == MAP_FAILED) return ~std::uint64_t{0};
    for (std::size_t page = 0; page < bytes; page += 4096) at[page] = static_cast<unsigned char>(page >> 12);
    for (std::size_t page = 0; page < bytes; page += 4096) sum += at[page];
    munmap(at, bytes);
  }
  return sum;
}

hbmscope_heap pool = HBMSCOPE_HEAP("target pool", "device", 0);
std::atomic<bool> is_locked{false};
std::vector<std::pair<std::uint64_t, std::uint64_t>> live;

std::uint64_t annotated(std::uint64_t) {
  while (is_locked.exchange(true)) usleep(10);
  for (int i = 0; i < 64; ++i) {
    if (live.size() > 100) {
      hbmscope_free(&pool, live.front().first, nullptr);
      live.erase(live.begin());
    }
    static std::uint64_t next = 1 << 20;
    next += 4096;
    live.emplace_back(next, 2048);
    hbmscope_alloc(&pool, next, 2048, 2000, nullptr, nullptr);
  }
  is_locked = false;
  usleep(3000);  // A ring holds three seconds of it: an observer on a busy machine loses nothing.
  return 0;
}

int run_threads(int count, Body body, double until) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&] { wrong += repeat(body, until) ? 0 : 1; });
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kind = argv[1];
  const double until = now() + std::atof(argv[2]);
  std::signal(SIGUSR2, end);
  if (kind == "sandbox") {
    // A filter that lets everything through is a filter all the same.
    sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog filter{1, &allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      return 1;
  }
  std::printf("begun\n");
  std::fflush(stdout);
  errno = 77;  // An attach must not change it.
  int wrong = 0;
  if (kind == "malloc") {
    wrong = run_threads(8, hammer_malloc, until);
  } else if (kind == "loop") {
    wrong = repeat(compute, until) && errno == 77 ? 0 : 1;
  } else if (kind == "sleep" || kind == "sandbox") {
    wrong = repeat(sleep_a_while, until) ? 0 : 1;
  } else if (kind == "doze") {
    wrong = doze(0) == 0 ? 0 : 1;
  } else if (kind == "receive") {
    wrong = receive_and_compute(until);
  } else if (kind == "signals") {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> sent{0};
    const pthread_t target = pthread_self();
    std::thread sender([&] {
      while (!is_over) {
        pthread_kill(target, SIGUSR1);
        ++sent;
        usleep(20);
      }
    });
    wrong = (repeat(compute, until) ? 0 : 1) + (repeat(hammer_malloc, now() + 0.1) ? 0 : 1);
    is_over = true;
    sender.join();
    if (signals_handled == 0) ++wrong;
  } else if (kind == "pressure") {
    const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
    setrlimit(RLIMIT_AS, &limit);
    wrong = run_threads(2, map_and_unmap, until);
  } else if (kind == "annotated") {
    pool.enumerate = [](hbmscope_heap*, const hbmscope_listing* to) {
      to->region(to->listener, 1 << 20, std::uint64_t{1} << 40);
      for (const auto& [address, bytes] : live) to->block(to->listener, address, bytes, 2000, 0, nullptr, nullptr);
    };
    hbmscope_heap_add(&pool);
    hbmscope_region(&pool, 1 << 20, std::uint64_t{1} << 40);
    wrong = run_threads(4, annotated, until);
  } else {
    return 2;
  }
  std::printf("%s: %d wrong\n", kind.c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}
