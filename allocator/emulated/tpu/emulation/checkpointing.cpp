#include "allocator/emulated/tpu/emulation/checkpointing.h"

#include <algorithm>
#include <map>

#include "allocator/emulated/tpu/emulation/emulation.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint32_t nobody = 0xffffffff;

class Rewriter {
 public:
  Rewriter(const Program& program, Checkpointing policy) : in_(program), policy_(policy), out_(program) {
    out_.operations.clear();
  }

  Program run() {
    find_forward();
    const std::size_t forward_end = last_forward_ + 1;
    for (std::size_t i = 0; i < forward_end; ++i) {
      out_.operations.push_back(in_.operations[i]);
      if (policy_ == Checkpointing::offload) offload_after(i);
    }
    for (std::size_t i = forward_end; i < in_.operations.size(); ++i) {
      Operation operation = in_.operations[i];
      for (std::uint32_t& value : operation.reads) value = restored(value);
      out_.operations.push_back(std::move(operation));
    }
    return std::move(out_);
  }

  bool has_segments() const {
    return std::any_of(in_.operations.begin(), in_.operations.end(),
                       [](const Operation& operation) { return !operation.segment.empty(); });
  }

 private:
  void find_forward() {
    writer_.assign(in_.values.size(), nobody);
    for (std::size_t i = 0; i < in_.operations.size(); ++i) {
      const Operation& operation = in_.operations[i];
      if (!operation.segment.empty()) last_forward_ = i;
      for (const std::uint32_t value : operation.writes)
        if (writer_[value] == nobody) writer_[value] = static_cast<std::uint32_t>(i);
    }
    last_forward_read_.assign(in_.values.size(), nobody);
    is_given_.assign(in_.values.size(), false);
    is_read_back_.assign(in_.values.size(), false);
    for (std::size_t i = 0; i < in_.operations.size(); ++i)
      for (const std::uint32_t value : in_.operations[i].reads) {
        if (i > last_forward_) {
          is_read_back_[value] = true;
          continue;
        }
        last_forward_read_[value] = static_cast<std::uint32_t>(i);
        const std::string& segment = in_.operations[i].segment;
        if (!segment.empty() && segment != segment_of(value)) is_given_[value] = true;
      }
  }

  // The segment of the operation that writes the value. Empty if there is no writer, or it has no segment.
  std::string segment_of(std::uint32_t value) const {
    return writer_[value] == nobody ? std::string() : in_.operations[writer_[value]].segment;
  }

  bool is_residual(std::uint32_t value) const {
    return in_.values[value].role == Role::temporary && writer_[value] <= last_forward_ && !segment_of(value).empty() &&
           !is_given_[value];
  }

  bool is_kept(std::uint32_t value) const {
    if (!is_residual(value)) return true;
    return policy_ != Checkpointing::full && in_.operations[writer_[value]].is_dot;
  }

  std::uint32_t add_value(std::uint32_t like, const char* suffix, Place place) {
    Value value = in_.values[like];
    value.array.name += suffix;
    value.array.spec.place = place;
    value.array.shard.shape.layout->memory_space = memory_space_of(place);
    out_.values.push_back(std::move(value));
    return static_cast<std::uint32_t>(out_.values.size() - 1);
  }

  // After the last use in the forward pass. Values that the last operation of the pass produces stay, because the
  // backward pass begins with them.
  void offload_after(std::size_t operation) {
    for (std::uint32_t value = 0; value < in_.values.size(); ++value) {
      if (!is_residual(value) || !is_kept(value) || !is_read_back_[value]) continue;
      const std::uint32_t last = last_forward_read_[value] == nobody ? writer_[value] : last_forward_read_[value];
      if (last != operation) continue;
      const std::uint32_t host = add_value(value, ".host", Place::host);
      Operation copy;
      copy.name = "offload " + in_.values[value].array.name;
      copy.reads = {value};
      copy.writes = {host};
      out_.operations.push_back(std::move(copy));
      on_host_[value] = host;
    }
  }

  // What replaces a value in the backward pass: itself, or a copy made before the operation that reads it first.
  std::uint32_t restored(std::uint32_t value) {
    if (const auto found = restored_.find(value); found != restored_.end()) return found->second;
    if (const auto host = on_host_.find(value); host != on_host_.end()) {
      const std::uint32_t back = add_value(value, ".back", Place::hbm);
      Operation copy;
      copy.name = "fetch " + in_.values[value].array.name;
      copy.reads = {host->second};
      copy.writes = {back};
      out_.operations.push_back(std::move(copy));
      return restored_[value] = back;
    }
    if (is_kept(value)) return value;
    const Operation& writer = in_.operations[writer_[value]];
    Operation again = writer;
    again.name += ".remat";
    again.segment.clear();
    for (std::uint32_t& read : again.reads) read = restored(read);
    for (std::uint32_t& written : again.writes)
      written = restored_[written] = add_value(written, ".remat", in_.values[written].array.spec.place);
    out_.operations.push_back(std::move(again));
    return restored_[value];
  }

  const Program& in_;
  const Checkpointing policy_;
  Program out_;
  std::size_t last_forward_ = 0;
  std::vector<std::uint32_t> writer_, last_forward_read_;  // By value: an operation.
  std::vector<bool> is_given_, is_read_back_;
  std::map<std::uint32_t, std::uint32_t> on_host_, restored_;
};

}  // namespace

Program apply_checkpointing(const Program& program, Checkpointing policy) {
  Rewriter rewriter(program, policy);
  if (policy == Checkpointing::none || !rewriter.has_segments()) return program;
  return rewriter.run();
}

void apply_options(Workload& workload) {
  for (Program& program : workload.programs) program = apply_checkpointing(program, workload.options.checkpointing);
}

}  // namespace hbmscope::allocator::tpu
