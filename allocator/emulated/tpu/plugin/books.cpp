#include "allocator/emulated/tpu/plugin/books.h"

#include <algorithm>
#include <utility>

#include "allocator/emulated/tpu/runtime_text.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

// Devices are far apart, so that an address names its device.
constexpr std::uint64_t device_distance = std::uint64_t{1} << 40;

hbmscope_text limit_figure = HBMSCOPE_TEXT("limit_bytes");  // wire::reported_limit
hbmscope_text programs_tag = HBMSCOPE_TEXT("loaded programs");
hbmscope_text defragmentation = HBMSCOPE_TEXT("defragmentation");

std::uint64_t padding_of(const Block& block) {
  return block.bytes - std::min(block.bytes, block.requested_bytes);
}

}  // namespace

DeviceBooks::DeviceBooks(std::uint32_t number, std::uint64_t usable_bytes, const Settings& given, TpuAccount& account)
    : name_("TPU " + std::to_string(number) + " HBM"),
      number_(number),
      base_((number + 1) * device_distance),
      account_(account),
      own_(account.devices[number]),
      heap_(HBMSCOPE_HEAP(name_.c_str(), "hbm", number)),
      runtime_(usable_bytes, given.defragments, this),
      runs_ahead_(given.runs_ahead) {
  heap_.flags |= HBMSCOPE_HAS_TWO_ENDS | HBMSCOPE_LISTENER_FILLS_IN;
  heap_.enumerate = enumerate;
  heap_.user = this;
  hbmscope_heap_add(&heap_);
  hbmscope_region(&heap_, base_, usable_bytes);
  hbmscope_count(&heap_, &limit_figure, static_cast<std::int64_t>(usable_bytes));
}

void DeviceBooks::enumerate(hbmscope_heap* heap, const hbmscope_listing* listing) {
  const auto& books = *static_cast<const DeviceBooks*>(heap->user);
  listing->region(listing->listener, books.base_, books.memory().usable_bytes());
  if (const std::uint64_t reserved = books.reported_reservation_; reserved != 0)
    listing->block(listing->listener, books.base_, reserved, HBMSCOPE_UNKNOWN, 0, nullptr, &programs_tag);
  for (const auto& [address, block] : books.blocks_)
    listing->block(listing->listener, address, block->bytes, block->requested_bytes, HBMSCOPE_UPPER_END, nullptr,
                   nullptr);
}

// A listing that the report asks for must have the block.
void DeviceBooks::add_block(std::unique_ptr<Block> block) {
  const hbmscope_block reported{block->address, block->bytes, block->requested_bytes, 0, HBMSCOPE_UPPER_END,
                                nullptr,        nullptr};
  padding_ += padding_of(*block);
  blocks_[reported.address] = std::move(block);
  hbmscope_alloc_block(&heap_, &reported);
}

Block* DeviceBooks::allocate(std::uint64_t bytes, std::uint64_t requested_bytes) {
  make_room(bytes);
  auto address = runtime_.allocate(bytes);
  if (!address && !waiting_.empty()) {
    catch_up();
    address = runtime_.allocate(bytes);
  }
  if (!address) return nullptr;
  ++allocations_;
  largest_allocation_ = std::max(largest_allocation_, bytes);
  auto block = std::make_unique<Block>(Block{base_ + *address, bytes, requested_bytes});
  Block* given = block.get();
  add_block(std::move(block));
  if (execution_.number != 0) note_use(given);
  note_peak();
  return given;
}

void DeviceBooks::note_use(Block* block) {
  if (block->last_execution != executions_) used_ += block->bytes;
  block->last_execution = executions_;
}

void DeviceBooks::free(Block* block) {
  if (block->last_execution == 0 || block->last_execution + runs_ahead_ <= executions_) return free_now(block);
  hbmscope_free_requested(&heap_, block->address, nullptr);
  waiting_.push_back(block);
}

void DeviceBooks::catch_up() {
  while (!waiting_.empty()) free_first_waiting();
}

void DeviceBooks::make_room(std::uint64_t bytes) {
  while (!waiting_.empty() && memory().largest_free_bytes() < bytes) free_first_waiting();
}

void DeviceBooks::free_first_waiting() {
  free_now(waiting_.front());
  waiting_.pop_front();
}

void DeviceBooks::free_now(Block* block) {
  padding_ -= padding_of(*block);
  hbmscope_free(&heap_, block->address, nullptr);
  runtime_.free(block->address - base_);
  blocks_.erase(block->address);
}

Block* DeviceBooks::transfer(Block* block, std::uint64_t requested_bytes) {
  padding_ -= padding_of(*block);
  hbmscope_free(&heap_, block->address, nullptr);
  auto node = blocks_.extract(block->address);
  block->requested_bytes = requested_bytes;
  add_block(std::move(node.mapped()));
  return block;
}

void DeviceBooks::begin(const Execution& execution) {
  ++executions_;
  used_ = 0;
  while (!waiting_.empty() && waiting_.front()->last_execution + runs_ahead_ <= executions_) free_first_waiting();
  runtime_.set_running(execution.program);
  execution_ = execution;
}

bool DeviceBooks::load() {
  const auto [program, name, number, temp_bytes, code_bytes] = execution_;
  make_room(runtime_.growth_for(program, temp_bytes, code_bytes));
  bool is_loaded = runtime_.load(program, temp_bytes, code_bytes);
  if (!is_loaded && !waiting_.empty()) {
    catch_up();
    is_loaded = runtime_.load(program, temp_bytes, code_bytes);
  }
  if (is_loaded) note_peak();
  return is_loaded;
}

void DeviceBooks::end() {
  runtime_.set_running(std::nullopt);
  execution_ = {};
}

void DeviceBooks::note_peak() {
  const std::uint64_t in_use = in_use_bytes();
  statistics_peak_ = std::max(statistics_peak_, in_use);
  if (in_use <= own_.peak) return;
  const std::uint64_t buffers = memory().buffer_bytes();
  own_.peak = in_use;
  own_.program = memory().reserved_bytes();
  own_.arguments = execution_.number != 0 ? std::min(used_, buffers) : 0;
  own_.others = buffers - own_.arguments;
  own_.padding = padding_;
  own_.peak_execution = execution_.number;
  own_.peak_plan = execution_.program;
  own_.peak_program.set(std::string(execution_.name));
}

std::string DeviceBooks::refuse(std::uint64_t bytes, std::string_view program) {
  std::string text = program.empty() ? no_room_for_buffer_text(number_, bytes, memory())
                                     : no_room_for_program_text(program, bytes, memory());
  ++account_.refusals;
  RefusalAccount& refusal = account_.refusal;
  refusal.requested = bytes;
  refusal.free = memory().free_bytes();
  refusal.largest_free =
      program.empty() ? memory().largest_free_bytes() : memory().reservable_bytes() - memory().reserved_bytes();
  refusal.program.set(std::string(execution_.name));
  hbmscope_out_of_memory(&heap_, bytes, text.c_str(), nullptr);
  return text;
}

void DeviceBooks::note_compiler_refusal(std::uint64_t needed_bytes, const std::string& text) {
  hbmscope_out_of_memory(&heap_, needed_bytes, text.c_str(), nullptr);
}

void DeviceBooks::on_moves(const std::vector<Move>& moves, std::uint64_t, std::uint64_t) {
  hbmscope_mark(&defragmentation, number_, HBMSCOPE_BEGINS);
  own_.moves += moves.size();
  for (const Move& move : moves) {
    auto node = blocks_.extract(base_ + move.from);
    node.key() = node.mapped()->address = base_ + move.to;
    blocks_.insert(std::move(node));
    hbmscope_move(&heap_, base_ + move.from, base_ + move.to);
  }
  hbmscope_mark(&defragmentation, number_, HBMSCOPE_ENDS);
}

void DeviceBooks::on_reservation(std::uint64_t before_bytes, std::uint64_t now_bytes) {
  peak_reserved_ = std::max(peak_reserved_, now_bytes);
  if (before_bytes != 0) hbmscope_free(&heap_, base_, nullptr);
  reported_reservation_ = now_bytes;
  if (now_bytes == 0) return;
  const hbmscope_block reported{base_, now_bytes, HBMSCOPE_UNKNOWN, 0, 0, nullptr, &programs_tag};
  hbmscope_alloc_block(&heap_, &reported);
}

void DeviceBooks::on_unload(HbmRuntime::ProgramId) {
  ++own_.unloads;
}

}  // namespace hbmscope::allocator::tpu::plugin
