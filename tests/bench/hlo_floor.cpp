// What it takes to open a compiled program (an HloProto with its buffer assignment), compared with the floor: parsing
// the same bytes with libprotobuf into hlo.proto, and nothing else. Target: at most twice as long, with the heaps, the
// stacks and the figures made.
//
//   hlo_floor [FILE.hlo.pb[.gz]]...     each file, then a program that is made here: 250,000 instructions
//
// The best of some rounds, alternately, because figures of a shared machine vary.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "analysis/read/file_bytes.h"
#include "analysis/read/gzip.h"
#include "analysis/read/hlo/read_hlo.h"
#include "hlo.pb.h"
#include "tests/analysis/proto_message.h"

namespace hbmscope {
namespace {

using tests::Message;
using Bytes = std::span<const std::uint8_t>;

constexpr std::uint64_t buffer_bytes = 1 << 20;
constexpr int fused_instructions = 11;

std::string packed(const std::vector<std::uint64_t>& numbers) {
  std::string bytes;
  for (std::uint64_t number : numbers) {
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
    bytes += static_cast<char>(number);
  }
  return bytes;
}

// f32[512,512]{1,0}
Message shape() {
  Message layout, message;
  return message.number(2, 11).text(3, packed({512, 512})).add(5, layout.text(1, std::string("\x01\x00", 2)));
}

Message instruction(const std::string& name, const std::string& opcode, std::uint64_t id,
                    const std::vector<std::uint64_t>& operands, const std::vector<std::uint64_t>& called = {}) {
  Message metadata, message;
  metadata.text(2, "jit(train_step)/jvp(Transformer)/layer_" + std::to_string(id % 97) + "/mlp/dot_general");
  metadata.number(15, id % 300 + 1);
  message.text(1, name).text(2, opcode).add(3, shape()).add(7, metadata).number(35, id);
  if (!operands.empty()) message.text(36, packed(operands));
  if (!called.empty()) message.text(38, packed(called));
  return message;
}

Message source_frames() {
  Message index;
  index.text(1, "/home/me/train.py").text(2, "train_step");
  for (std::uint64_t line = 1; line <= 300; ++line) {
    Message place;
    index.add(3, place.number(1, 1).number(2, 1).number(3, line));
  }
  for (std::uint64_t frame = 1; frame <= 300; ++frame) {
    Message message;
    index.add(4, message.number(1, frame).number(2, frame / 2));
  }
  return index;
}

// A chain of fusions, each with a computation of its own; four values are live at a time.
std::string made_program(std::uint64_t fusions) {
  Message module, entry, assignment, arena, trace;
  std::vector<std::uint64_t> order;
  module.text(1, "jit_train_step").text(2, "main");
  arena.number(1, 0).number(2, 4 * buffer_bytes);
  for (std::uint64_t i = 0; i < fusions; ++i) {
    const std::uint64_t id = i * 16 + 1;
    Message computation;
    computation.text(1, "fused_computation." + std::to_string(i));
    for (std::uint64_t k = 1; k <= fused_instructions; ++k)
      computation.add(2, instruction("multiply." + std::to_string(id + k), "multiply", id + k, {id + k / 2}));
    module.add(3, computation.number(5, i + 2));
    const std::string name = "multiply_add_fusion." + std::to_string(i);
    entry.add(2,
              instruction(name, "fusion", id, i == 0 ? std::vector<std::uint64_t>{} : std::vector{id - 16}, {i + 2}));
    order.push_back(id);
    Message buffer, place, assigned, begins;
    assignment.add(1, buffer.number(1, i).number(2, buffer_bytes).add(3, place.number(4, id)));
    arena.add(9, assigned.number(1, i).number(2, i % 4 * buffer_bytes).number(3, buffer_bytes));
    if (i >= 4) {
      Message ends;
      trace.add(1, ends.number(1, 1).number(2, i - 4).text(3, "main").text(4, name));
    }
    trace.add(1, begins.number(2, i).text(3, "main").text(4, name));
  }
  Message schedule, item, sequence, proto;
  schedule.add(1, item.number(1, 1).add(2, sequence.text(1, packed(order))));
  module.add(3, entry.text(1, "main").number(5, 1)).number(6, 1).add(7, schedule).add(17, source_frames());
  return proto.add(1, module).add(3, assignment.add(3, arena).add(4, trace.number(2, 1))).bytes;
}

double best_ms(double best, const std::function<bool()>& work, bool& is_right) {
  const auto begin = std::chrono::steady_clock::now();
  is_right = work() && is_right;
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return std::min(best, ms);
}

bool compare(const std::string& name, Bytes bytes) {
  constexpr int rounds = 9;
  constexpr double target = 2;
  double floor = 1e9, reader = 1e9;
  bool is_right = true;
  for (int i = 0; i < rounds; ++i) {
    const auto parse = [&] {
      bench::HloProto proto;
      return proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && proto.has_buffer_assignment();
    };
    floor = best_ms(floor, parse, is_right);
    reader = best_ms(
        reader, [&] { return read_hlo(bytes, name).has_value(); }, is_right);
  }
  if (!is_right) fmt::print(stderr, "{} can't be read\n", name);
  fmt::print("{}: {:.1f} MB, libprotobuf {:.1f} ms, hbmscope {:.1f} ms, {:.2f}x (target {:.0f}x: {})\n", name,
             static_cast<double>(bytes.size()) / 1e6, floor, reader, reader / floor, target,
             reader <= target * floor ? "met" : "missed");
  return is_right;
}

bool compare_file(const std::string& path) {
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 31;
  const auto file = read_file(path, bytes_max);
  ImportStatistics unused;
  const auto unzipped = file ? unzip(file->bytes(), path, bytes_max - 1, unused) : Failure(file.error());
  if (unzipped) return compare(path, unzipped->bytes);
  fmt::print(stderr, "{}\n", unzipped.error().text());
  return false;
}

}  // namespace
}  // namespace hbmscope

int main(int argc, char** argv) {
  bool is_right = true;
  for (int i = 1; i < argc; ++i) is_right = hbmscope::compare_file(argv[i]) && is_right;
  constexpr std::uint64_t fusions = 21'000;
  const std::string made = hbmscope::made_program(fusions);
  is_right =
      hbmscope::compare("made here", {reinterpret_cast<const std::uint8_t*>(made.data()), made.size()}) && is_right;
  return is_right ? 0 : 1;
}
