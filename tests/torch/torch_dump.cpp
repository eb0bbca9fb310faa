// Prints what read_torch found in a file, as the lines that read_vs_python.py makes of the same file with Python's
// own pickle: sums for a person, and hashes over every value of every row for the comparison.
//
//   torch_dump FILE           the lines
//   torch_dump FILE --time    seconds and memory of the reading instead
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "analysis/read/file_bytes.h"
#include "analysis/read/torch/read_torch.h"

namespace {

using namespace hbmscope;

class Fnv {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<std::uint8_t>(c)) * 1099511628211U;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1469598103934665603U;
};

std::string_view text_from_segment_type(TorchSegmentType type) {
  switch (type) {
    case TorchSegmentType::small: return "small";
    case TorchSegmentType::large: return "large";
    case TorchSegmentType::unknown: break;
  }
  return "unknown";
}

std::string_view text_from_block_state(TorchBlockState state) {
  switch (state) {
    case TorchBlockState::active_allocated: return "active_allocated";
    case TorchBlockState::active_pending_free: return "active_pending_free";
    case TorchBlockState::inactive: return "inactive";
    case TorchBlockState::unknown: break;
  }
  return "unknown";
}

std::string number(std::int64_t value, std::int64_t absent) {
  return value == absent ? "-" : fmt::format("{}", value);
}

class Dump {
 public:
  explicit Dump(const TorchSnapshot& snapshot) : snapshot_(snapshot) {
    for (std::size_t i = 0; i < snapshot.stacks.caller.size(); ++i) {
      Fnv hash;
      for (const TorchFrame& frame : snapshot.stack_frames(static_cast<TorchStackId>(i))) {
        hash.add(fmt::format("{}|{}|{}\n", snapshot.text(frame.function), snapshot.text(frame.file), frame.line));
        lines_.resize(i + 1);
        lines_[i] += frame.line;
      }
      stack_hashes_.push_back(hash.value());
    }
    lines_.resize(stack_hashes_.size());
  }

  void print() {
    print_segments();
    print_blocks();
    for (const TorchTrace& trace : snapshot_.traces) print_trace(trace);
    Fnv annotations, settings;
    for (const TorchAnnotation& row : snapshot_.annotations)
      annotations.add(fmt::format("{}|{}|{}|{}\n", snapshot_.text(row.stage), snapshot_.text(row.name), row.device,
                                  number(row.time_us, absent_time)));
    for (const TorchSetting& row : snapshot_.settings)
      settings.add(fmt::format("{}={}\n", snapshot_.text(row.key), snapshot_.text(row.value)));
    fmt::print("annotations {} {:016x}\n", snapshot_.annotations.size(), annotations.value());
    fmt::print("settings {} {:016x}\n", snapshot_.settings.size(), settings.value());
    fmt::print("sum of frames' lines {}\n", line_sum_);
  }

 private:
  std::string stack(TorchStackId stack) {
    line_sum_ += lines_[row(stack)];
    return fmt::format("{:016x}", stack_hashes_[row(stack)]);
  }

  void print_segments() {
    const TorchSegments& s = snapshot_.segments;
    Fnv hash;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      total += s.total_bytes[i];
      hash.add(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{},{}|{}|{}|{}\n", s.device[i], s.address[i], s.total_bytes[i],
                           number(s.allocated_bytes[i], -1), number(s.active_bytes[i], -1),
                           number(s.requested_bytes[i], -1), s.stream[i], text_from_segment_type(s.type[i]),
                           s.pool_first[i], s.pool_second[i], s.is_expandable[i], stack(s.stack[i]),
                           s.block_begin[i + 1] - s.block_begin[i]));
    }
    fmt::print("segments {} bytes {} {:016x}\n", s.size(), total, hash.value());
  }

  void print_blocks() {
    const TorchBlocks& b = snapshot_.blocks;
    Fnv hash;
    std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> by_state;
    for (std::size_t i = 0; i < b.size(); ++i) {
      auto& [count, bytes] = by_state[text_from_block_state(b.state[i])];
      ++count;
      bytes += b.size_bytes[i];
      hash.add(fmt::format("{}|{}|{}|{}|{}|{}\n", b.address[i], b.size_bytes[i], number(b.requested_bytes[i], -1),
                           text_from_block_state(b.state[i]), stack(b.stack[i]), snapshot_.text(b.user_metadata[i])));
    }
    for (const auto& [state, sums] : by_state) fmt::print("blocks {} {} bytes {}\n", state, sums.first, sums.second);
    fmt::print("blocks {} {:016x}\n", b.size(), hash.value());
  }

  void print_trace(const TorchTrace& t) {
    Fnv hash;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_action;
    std::size_t out_of_memory = 0, other = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      std::string action(text_from_action(t.action[i])), free;
      if (t.action[i] == TorchAction::unknown) action = snapshot_.text(t.other_actions.at(other++).action);
      if (t.action[i] == TorchAction::oom) free = number(t.out_of_memory.at(out_of_memory++).device_free_bytes, -1);
      auto& [count, bytes] = by_action[action];
      ++count;
      bytes += t.size_bytes[i];
      hash.add(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}\n", action, t.address[i], t.size_bytes[i], t.stream[i],
                           number(t.time_us[i], absent_time), stack(t.stack[i]), free,
                           snapshot_.text(t.user_metadata[i]), snapshot_.text(t.compile_context[i])));
    }
    for (const auto& [action, sums] : by_action)
      fmt::print("device {} {} {} bytes {}\n", t.device, action, sums.first, sums.second);
    fmt::print("device {} entries {} {:016x}\n", t.device, t.size(), hash.value());
  }

  const TorchSnapshot& snapshot_;
  std::vector<std::uint64_t> stack_hashes_;
  std::vector<std::int64_t> lines_;
  std::int64_t line_sum_ = 0;
};

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

template <class Read>
void print_time(const char* what, Read read) {
  const double before_mib = peak_mib();
  const auto start = std::chrono::steady_clock::now();
  const auto result = read();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{} {:.3f} s, peak {:.1f} MiB higher{}\n", what, seconds.count(), peak_mib() - before_mib,
             result ? "" : ", refused: " + result.error().text());
}

// The peak of a process only goes up: what the second step shows is what it takes beyond the first.
void print_times(const std::string& file, std::span<const std::uint8_t> bytes) {
  fmt::print("file {:.1f} MiB\n", static_cast<double>(bytes.size()) / (1 << 20));
  if (pickle::looks_like_pickle(bytes)) print_time("read_pickle", [&] { return pickle::read_pickle(bytes, file); });
  print_time("read_torch", [&] { return read_torch(bytes, file); });
}

int run(const std::string& file, bool is_timed) {
  const auto bytes = read_file(file, std::uint64_t{16} << 30);
  if (!bytes) {
    fmt::print("error {}\n", bytes.error().text());
    return 1;
  }
  if (is_timed) {
    print_times(file, bytes->bytes());
    return 0;
  }
  const auto snapshot = read_torch(bytes->bytes(), file);
  if (!snapshot) {
    fmt::print("error {}\n", snapshot.error().text());
    return 1;
  }
  Dump(*snapshot).print();
  for (const ImportStatistic& row : snapshot->import.rows())
    if (row.severity > Severity::info) fmt::print("# {} {} {}\n", row.name, row.count, row.example);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: torch_dump FILE [--time]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
