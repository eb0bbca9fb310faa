// Profiles of XLA (XSpace) written event by event, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/proto_message.h"

namespace hbmscope::tests {

class PlaneByHand {
 public:
  explicit PlaneByHand(std::string name) : name_(std::move(name)) {}

  // Begins a thread's line, whose events follow.
  void line(std::uint64_t begin_ns = 0) {
    lines_.emplace_back();
    at_ = lines_.size() - 1;
    lines_[at_].text(2, "python").number(3, begin_ns);
  }
  // Continues a line, by its number from 0.
  void return_to_line(std::size_t number) { at_ = number; }
  std::size_t line_bytes() const {
    std::size_t bytes = 0;
    for (const Message& line : lines_) bytes += line.bytes.size();
    return bytes;
  }
  void span(const std::string& name, std::uint64_t begin_ns, std::uint64_t duration_ns) {
    lines_[at_].add(4, event(name, begin_ns).number(3, duration_ns * 1000));
  }
  void step(const std::string& name, std::uint64_t number, std::uint64_t begin_ns, std::uint64_t duration_ns) {
    lines_[at_].add(4, event(name, begin_ns).number(3, duration_ns * 1000).add(4, integer("step_num", number)));
  }
  struct Block {
    std::uint64_t address = 0, size = 0, in_use = 0;  // In use in the allocator, afterwards.
    std::string op = {}, shape = {};
    std::string allocator = "GPU_0_bfc";
    std::uint64_t limit = 1 << 20;
  };
  void alloc(std::uint64_t time_ns, const Block& block) { memory("MemoryAllocation", time_ns, block); }
  void free(std::uint64_t time_ns, const Block& block) { memory("MemoryDeallocation", time_ns, block); }
  // An event of a device, with a statistic that is a text.
  void device_event(const std::string& name, std::uint64_t begin_ns, const std::string& stat, const std::string& text) {
    lines_[at_].add(4, event(name, begin_ns).add(4, reference(stat, text)));
  }
  // A compiled program.
  void program(const std::string& name, const std::string& proto) { programs_[name] = proto; }
  void stat(const std::string& name, std::uint64_t value) { stats_.push_back(integer(name, value)); }

  Message message() {
    Message plane;
    plane.text(2, name_);
    for (const Message& line : lines_) plane.add(3, line);
    for (const auto& [name, proto] : programs_) {
      Message stat;
      stat.number(1, id(stats_of_names_, "Hlo Proto")).text(6, proto);
      plane.add(4, entry(id(names_, name), Message().text(2, name).add(5, stat)));
    }
    for (const auto& [name, id] : names_)
      if (!programs_.contains(name)) plane.add(4, entry(id, Message().number(1, id).text(2, name)));
    for (const auto& [name, id] : stats_of_names_) plane.add(5, entry(id, Message().number(1, id).text(2, name)));
    for (const Message& stat : stats_) plane.add(6, stat);
    return plane;
  }

 private:
  using Ids = std::map<std::string, std::uint64_t>;
  static std::uint64_t id(Ids& ids, const std::string& name) {
    return ids.try_emplace(name, ids.size() + 1).first->second;
  }
  static Message entry(std::uint64_t id, const Message& value) { return Message().number(1, id).add(2, value); }

  Message event(const std::string& name, std::uint64_t time_ns) {
    return Message().number(1, id(names_, name)).number(2, time_ns * 1000);
  }
  Message integer(const std::string& name, std::uint64_t value) {
    return Message().number(1, id(stats_of_names_, name)).number(4, value);
  }
  Message reference(const std::string& name, const std::string& value) {
    return Message().number(1, id(stats_of_names_, name)).number(7, id(stats_of_names_, value));
  }
  void memory(const std::string& name, std::uint64_t time_ns, const Block& block) {
    Message message = event(name, time_ns);
    message.add(4, reference("allocator_name", block.allocator))
        .add(4, integer("bytes_reserved", 0))
        .add(4, integer("bytes_allocated", block.in_use))
        .add(4, integer("bytes_available", block.limit - block.in_use))
        .add(4, integer("peak_bytes_in_use", block.in_use))
        .add(4, integer("requested_bytes", block.size - 6))
        .add(4, integer("allocation_bytes", block.size))
        .add(4, integer("addr", block.address));
    if (!block.op.empty()) message.add(4, reference("tf_op", block.op));
    if (!block.shape.empty()) message.add(4, reference("shape", block.shape));
    lines_[at_].add(4, message);
  }

  std::string name_;
  std::vector<Message> lines_, stats_;
  std::size_t at_ = 0;  // The line that events are added to.
  Ids names_, stats_of_names_;
  std::map<std::string, std::string> programs_;
};

}  // namespace hbmscope::tests
