// A program with an allocator of simulated device memory that reports to hbmscope; the tests of the collector run it.
// It knows the correct result and prints it as one line of JSON at the end, or whenever it is told to pause.
//
//   annotated_program [--threads N] [--events N] [--seed N] [--pace EVENTS_A_MILLISECOND] [--forever]
//                     [--slow-end EVENTS] [--fail]
//
// Built with SERVES_ITSELF it also takes [--serve] [--record FILE] [--record-bytes N] [--fork] [--child-serves]: it
// serves itself, and its first thread forks in the middle; [--fail-first N]: before that it fails N times to serve
// itself, and every other time ends a serving that never began; and [--exec PROGRAM]: at the end it executes that
// program.
//
// Each thread has its own heap and, every other time, uses the first thread's: so there are heaps of one thread and of
// many.
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "collector/annotate/hbmscope.h"
#ifdef SERVES_ITSELF
#include <dirent.h>
#include <unistd.h>

#include "collector/annotate/hbmscope_serve.h"
#endif

namespace {

constexpr std::uint64_t slot_bytes = 4096, slots = 4096;

hbmscope_frame inner_frames[] = {{"matmul", "/home/me/model.py", 42}, {"step", "/home/me/train.py", 7}};
hbmscope_stack matmul = HBMSCOPE_STACK(inner_frames);
hbmscope_text weights = HBMSCOPE_TEXT("weights");
hbmscope_text step_name = HBMSCOPE_TEXT("step");

class Heap {
 public:
  Heap(std::string name, std::uint64_t base) : name_(std::move(name)), base_(base) {
    described_ = HBMSCOPE_HEAP(name_.c_str(), "device", 0);
    described_.user = this;
    described_.enumerate = [](hbmscope_heap* heap, const hbmscope_listing* listing) {
      static_cast<Heap*>(heap->user)->enumerate(*listing);
    };
    for (std::uint64_t slot = slots; slot-- > 0;) free_.push_back(base_ + slot * slot_bytes);
    hbmscope_heap_add(&described_);
    hbmscope_region(&described_, base_, slots * slot_bytes);
  }

  void step(std::mt19937_64& source) {
    const std::lock_guard guard(mutex_);
    ++events_;
    if (free_.empty() || (!live_.empty() && source() % 2 == 0)) {
      const auto block =
          std::next(live_.begin(), static_cast<std::ptrdiff_t>(source() % std::min<std::size_t>(live_.size(), 8)));
      const std::uint64_t address = block->first;
      hbmscope_free(&described_, address, nullptr);
      live_.erase(block);
      free_.push_back(address);
    } else {
      const std::uint64_t address = free_.back(), requested = 1 + source() % slot_bytes;
      const std::uint64_t bytes = (requested + 255) / 256 * 256;
      free_.pop_back();
      live_[address] = {bytes, requested};
      hbmscope_alloc(&described_, address, bytes, requested, &matmul, source() % 4 == 0 ? &weights : nullptr);
    }
  }

  void fail() {
    const std::lock_guard guard(mutex_);
    ++events_;
    hbmscope_out_of_memory(&described_, std::uint64_t{3} << 30, "no region is large enough", &matmul);
  }

  void print(FILE* out) const {
    std::uint64_t bytes = 0, requested = 0;
    for (const auto& [address, block] : live_) bytes += block.bytes, requested += block.requested;
    std::fprintf(out,
                 "{\"name\":\"%s\",\"live_blocks\":%zu,\"in_use_bytes\":%" PRIu64 ",\"requested_bytes\":%" PRIu64
                 ",\"events\":%" PRIu64 "}",
                 name_.c_str(), live_.size(), bytes, requested, events_);
  }

 private:
  struct Block {
    std::uint64_t bytes = 0, requested = 0;
  };
  void enumerate(const hbmscope_listing& listing) {
    listing.region(listing.listener, base_, slots * slot_bytes);
    for (const auto& [address, block] : live_)
      listing.block(listing.listener, address, block.bytes, block.requested, 0, &matmul, nullptr);
  }

  std::string name_;
  std::uint64_t base_;
  hbmscope_heap described_{};
  std::mutex mutex_;
  std::map<std::uint64_t, Block> live_;
  std::vector<std::uint64_t> free_;
  std::uint64_t events_ = 1;  // The region.
};

std::uint64_t number_of(int argc, char** argv, const char* option, std::uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], option) == 0) return std::strtoull(argv[i + 1], nullptr, 10);
  return otherwise;
}

#ifdef SERVES_ITSELF
const char* text_of(int argc, char** argv, const char* option) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], option) == 0) return argv[i + 1];
  return nullptr;
}

// On standard error: "serves", or why not.
void serve_self(const char* recording, std::uint64_t bytes_max) {
  const hbmscope_serving how{sizeof(how), 0, recording, bytes_max};
  const char* wrong = hbmscope_serve(&how);
  std::fprintf(stderr, "%s\n", wrong == nullptr ? "serves" : wrong);
}

// Whether it is refused so often, in the same words each time, which are printed once.
bool fails_alike(std::uint64_t times) {
  const hbmscope_serving how{sizeof(how), 0, "/nowhere/x.hbm", 0};
  std::string first;
  for (std::uint64_t i = 0; i < times; ++i) {
    const char* wrong = hbmscope_serve(&how);
    if (i == 0) first = wrong == nullptr ? "" : wrong;
    if (wrong == nullptr || first != wrong) return false;
    if (i % 2 == 1) hbmscope_serve_end();
  }
  std::fprintf(stderr, "%s\n", first.c_str());
  return true;
}

// The child continues with its copy of the heap, reports its open and mapped files, and stays until standard input
// ends.
void fork_here(Heap& heap, std::mt19937_64& source, bool child_serves) {
  if (fork() != 0) return;
  for (int event = 0; event < 1000; ++event) heap.step(source);
  std::string open;
  DIR* names = opendir("/proc/self/fd");
  while (const dirent* name = readdir(names)) {
    char target[256] = "";
    if (name->d_name[0] != '.' && readlinkat(dirfd(names), name->d_name, target, sizeof(target) - 1) > 0)
      open += std::string(" ") + target;
  }
  closedir(names);
  FILE* mappings = std::fopen("/proc/self/maps", "r");
  for (char line[4400]; mappings != nullptr && std::fgets(line, sizeof(line), mappings) != nullptr;)
    if (std::strstr(line, "memfd:") != nullptr) open += " mapped memfd:";
  if (mappings != nullptr) std::fclose(mappings);
  if (child_serves) {
    serve_self(nullptr, 0);
    for (int event = 0; event < 1000; ++event) heap.step(source);
  }
  std::fprintf(stderr, "child %d has%s\n", static_cast<int>(getpid()), open.c_str());
  char nothing = 0;
  while (read(0, &nothing, 1) > 0) {
  }
  _exit(0);
}
#endif

bool has(int argc, char** argv, const char* option) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], option) == 0) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t threads = number_of(argc, argv, "--threads", 1), events = number_of(argc, argv, "--events", 1000);
  const std::uint64_t seed = number_of(argc, argv, "--seed", 1), pace = number_of(argc, argv, "--pace", 0);
  const bool is_endless = has(argc, argv, "--forever");
  std::vector<std::unique_ptr<Heap>> heaps;
#ifdef SERVES_ITSELF
  const std::uint64_t fork_at = has(argc, argv, "--fork") ? events / 2 : ~std::uint64_t{0};
  const bool child_serves = has(argc, argv, "--child-serves");
  const std::uint64_t failures = number_of(argc, argv, "--fail-first", 0);
  if (failures != 0 && !fails_alike(failures)) return 1;
  if (has(argc, argv, "--serve"))
    serve_self(text_of(argc, argv, "--record"), number_of(argc, argv, "--record-bytes", 0));
#endif
  for (std::uint64_t i = 0; i < threads; ++i)
    heaps.push_back(std::make_unique<Heap>("pool " + std::to_string(i), (i + 1) << 40));
  std::atomic<std::uint64_t> reported{0};
  std::vector<std::thread> running;
  for (std::uint64_t i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      std::mt19937_64 source(seed * 1000 + i);
      for (std::uint64_t event = 0; is_endless || event < events; ++event) {
        heaps[event % 2 == 0 ? i : 0]->step(source);
#ifdef SERVES_ITSELF
        if (i == 0 && event == fork_at) fork_here(*heaps[0], source, child_serves);
#endif
        if (i == 0 && event % 100 == 0) hbmscope_mark(&step_name, ~0U, HBMSCOPE_INSTANT);
        if (pace != 0 && event % pace == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (is_endless && i == 0 && event % 1000 == 0) {
          std::printf("%" PRIu64 "\n", event);
          std::fflush(stdout);
        }
      }
    });
  for (std::thread& thread : running) thread.join();
  // So slow that a listing of each heap gets through, however busy the machine is.
  std::mt19937_64 source(seed);
  for (std::uint64_t event = 0; event < number_of(argc, argv, "--slow-end", 0); ++event) {
    heaps[event % threads]->step(source);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (has(argc, argv, "--fail")) heaps[0]->fail();
  std::printf("{\"heaps\":[");
  for (std::uint64_t i = 0; i < threads; ++i) {
    if (i > 0) std::printf(",");
    heaps[i]->print(stdout);
  }
  std::printf("]}\n");
#ifdef SERVES_ITSELF
  std::fflush(stdout);
  const char* next = text_of(argc, argv, "--exec");
  if (next != nullptr) execl(next, next, nullptr);
#endif
  return 0;
}
