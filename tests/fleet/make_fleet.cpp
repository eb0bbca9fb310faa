// Writes the recordings of a made-up training run on many GPUs: tensor, data and pipeline parallel, with 8 processes a
// host. Each process differs a little from its peers, as real ones do, and some differ a lot, as the arguments say.
//
//   make_fleet FOLDER RANKS EVENTS [--tp N] [--pp N] [--seed N] [--vary N] [--moved] [PLANTED...]
//
// PLANTED: rank:R:MIB[:LINE], host:H:MIB[:LINE], stage:P:MIB[:LINE] give the processes that much more at a line
// (default forward); swap:R:MIB moves bytes from one line to another, so that the peak stays; fail:R:T lets a request
// of rank R fail T ms after the others would. --moved: other line numbers, as after a commit.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "collector/wire/recording_file.h"
#include "collector/wire/stream_writer.h"

namespace {

using namespace hbmscope;

constexpr std::uint64_t mib = 1 << 20, base = 0x7f3a00000000, pool_bytes = std::uint64_t{76} << 30;
constexpr std::uint64_t begun_ms = 1'795'000'000'000;

struct Planted {
  std::string kind, line = "forward";
  std::uint32_t who = 0;
  std::int64_t amount = 0;  // MiB, or ms.
};

struct Fleet {
  std::string folder;
  std::uint32_t ranks = 0, tp = 8, pp = 1, seed = 1, vary = 1;  // By how many thousandths a line varies.
  std::uint64_t events = 0;
  bool is_moved = false;
  std::vector<Planted> planted;
};

struct Line {
  const char *function, *file;
  std::uint32_t number;
  std::uint64_t bytes;  // At the peak, of a typical process.
};
constexpr Line lines[] = {{"init_params", "model.py", 40, 8192 * mib}, {"adam_init", "optimizer.py", 75, 16384 * mib},
                          {"forward", "model.py", 131, 20480 * mib},   {"backward", "model.py", 160, 6144 * mib},
                          {"all_gather", "comm.py", 22, 2048 * mib},   {"load_batch", "data.py", 18, 512 * mib},
                          {"log_metrics", "metrics.py", 33, 64 * mib}};

class Process {
 public:
  Process(const Fleet& fleet, std::uint32_t rank, wire::StreamWriter& writer)
      : fleet_(fleet), rank_(rank), writer_(writer), random_(std::uint64_t{fleet.seed} * 1'000'003 + rank) {
    wire::HeapRecord heap;
    heap.flags = wire::heap_flag::has_requested | wire::heap_flag::has_addresses | wire::heap_flag::has_regions;
    heap.device = rank % 8;
    heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
    heap_ = writer_.define_heap(heap, "GPU " + std::to_string(rank % 8), "device");
    writer_.add_job_fact("command", "python train.py --model 70b");
    writer_.add_job_fact("host", "node" + std::to_string(rank / 8));
    writer_.add_job_fact("process", std::to_string(4000 + rank % 8));
    writer_.add_job_fact("rank", std::to_string(rank));
  }

  void run() {
    grow();
    std::map<std::string, std::uint64_t> wanted;
    for (const Line& line : lines) wanted[line.function] = varied(bytes_of(line));
    std::optional<std::int64_t> failure;
    for (const Planted& one : fleet_.planted) {
      if (one.kind == "fail" && one.who == rank_) failure = one.amount;
      if (one.kind == "swap" && one.who == rank_) {
        wanted["forward"] += static_cast<std::uint64_t>(one.amount) * mib;
        wanted["backward"] -= static_cast<std::uint64_t>(one.amount) * mib;
      } else if (meets(one)) {
        wanted[one.line] += static_cast<std::uint64_t>(one.amount) * mib;
      }
    }
    for (const Line& line : lines) take_all(line, wanted[line.function]);
    if (wanted.contains("leak")) take_all({"leak", "cache.py", 12, 0}, wanted["leak"]);
    while (writer_.next_event() + 40 < fleet_.events) step();
    if (failure) fail(*failure);
    writer_.flush();
  }

 private:
  bool meets(const Planted& one) const {
    if (one.kind == "rank") return one.who == rank_;
    if (one.kind == "host") return one.who == rank_ / 8;
    return one.kind == "stage" && one.who == stage();
  }
  std::uint32_t stage() const { return rank_ / (fleet_.ranks / fleet_.pp); }

  // The first stage has the embedding, the last one the loss; tensor parallel parts are alike.
  std::uint64_t bytes_of(const Line& line) const {
    const std::string_view function = line.function;
    if (fleet_.pp > 1 && stage() == 0 && function == "init_params") return line.bytes + 4096 * mib;
    if (fleet_.pp > 1 && stage() + 1 == fleet_.pp && function == "forward") return line.bytes + 6144 * mib;
    return line.bytes;
  }
  std::uint64_t varied(std::uint64_t bytes) { return bytes + random_() % (bytes / 1000 * fleet_.vary + 1); }
  std::int64_t tick() { return time_ns_ += static_cast<std::int64_t>(1'000 + random_() % 20'000); }

  std::uint32_t stack_of(const Line& line) {
    const std::uint32_t moved = fleet_.is_moved ? 17 : 0;
    std::uint32_t stack = writer_.define_stack(0, writer_.define_frame("main", "/home/me/train/train.py", 210 + moved));
    for (std::uint32_t depth = 0; depth < 6; ++depth)
      stack = writer_.define_stack(
          stack,
          writer_.define_frame("_call_impl_" + std::to_string(depth),
                               "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", 1500 + depth));
    return writer_.define_stack(
        stack, writer_.define_frame(line.function, std::string("/home/me/train/") + line.file, line.number + moved));
  }

  void grow() {
    wire::RegionGrowRecord region;
    region.address = base;
    region.size = pool_bytes;
    region.heap = heap_;
    writer_.add(region, tick());
  }
  std::uint64_t take(std::uint64_t bytes, std::uint32_t stack, std::uint64_t address) {
    wire::AllocRecord block;
    block.address = address;
    block.size = (bytes + 511) / 512 * 512;
    block.requested = bytes;
    block.heap = heap_;
    block.stack = stack;
    writer_.alloc(block, tick());
    return block.size;
  }
  void take_all(const Line& line, std::uint64_t bytes) {
    const std::uint32_t stack = stack_of(line);
    constexpr std::uint64_t parts = 24;
    for (std::uint64_t part = 0; part < parts && bytes > 0; ++part) next_ += take(bytes / parts, stack, next_);
  }
  // What comes and goes, above what stays.
  void step() {
    const std::uint32_t stack = stack_of({"forward_temporary", "model.py", 140, 0});
    std::uint64_t address = next_;
    std::vector<std::uint64_t> taken;
    for (int i = 0; i < 16; ++i) {
      taken.push_back(address);
      address += take((1 + i % 4) * mib, stack, address);
    }
    for (const std::uint64_t block : taken) writer_.free(heap_, block, 0, 0, tick());
  }
  void fail(std::int64_t after_ms) {
    wire::OutOfMemoryRecord record;
    record.requested = 30'000 * mib;
    record.heap = heap_;
    record.stack = stack_of(lines[2]);
    record.available = 0;
    writer_.add(record, time_ns_ = 3'600'000'000'000 + after_ms * 1'000'000);
  }

  const Fleet& fleet_;
  std::uint32_t rank_;
  wire::StreamWriter& writer_;
  std::mt19937_64 random_;
  std::uint32_t heap_ = 0;
  std::uint64_t next_ = base;
  std::int64_t time_ns_ = 0;
};

template <class Number>
Number number_from(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) c == ':' ? static_cast<void>(parts.emplace_back()) : parts.back().push_back(c);
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  Fleet fleet;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--moved") {
      fleet.is_moved = true;
    } else if (word.starts_with("--") && i + 1 < argc) {
      const auto value = number_from<std::uint32_t>(argv[++i]);
      (word == "--tp" ? fleet.tp : word == "--pp" ? fleet.pp : word == "--vary" ? fleet.vary : fleet.seed) = value;
    } else if (const auto parts = split(word); parts.size() >= 3) {
      fleet.planted.push_back({parts[0], parts.size() > 3 ? parts[3] : "forward", number_from<std::uint32_t>(parts[1]),
                               number_from<std::int64_t>(parts[2])});
    } else {
      places.push_back(word);
    }
  }
  if (places.size() != 3) {
    std::fprintf(stderr, "make_fleet FOLDER RANKS EVENTS [--tp N] [--pp N] [--seed N] [--moved] [PLANTED...]\n");
    return 2;
  }
  fleet.folder = places[0];
  fleet.ranks = number_from<std::uint32_t>(places[1]);
  fleet.events = number_from<std::uint64_t>(places[2]);
  std::filesystem::create_directories(fleet.folder);
  for (std::uint32_t rank = 0; rank < fleet.ranks; ++rank) {
    wire::RecordingWriter file;
    auto failure = file.open(fleet.folder + "/rank_" + std::to_string(rank) + ".hbm", begun_ms);
    if (!failure) {
      wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) { file.append(*block); });
      Process(fleet, rank, writer).run();
      failure = file.finish();
    }
    if (failure) {
      std::fprintf(stderr, "rank %u: %s\n", rank, failure->c_str());
      return 1;
    }
  }
  return 0;
}
