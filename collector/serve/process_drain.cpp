#include "collector/serve/process_drain.h"
#include "collector/wire/reported_names.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <queue>
#include <utility>

namespace hbmscope::serve {
namespace {

std::uint64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

constexpr std::uint64_t reported_step_bytes = 1 << 16;  // A thread may wait for the room.

// The job's ids are dense and arrive in order; any other id is ignored and stays 0.
void add_id(std::vector<std::uint32_t>& ids, std::uint32_t of_job, std::uint32_t id) {
  if (of_job == ids.size()) ids.push_back(id);
}

}  // namespace

ProcessDrain::ProcessDrain(std::unique_ptr<RingMemory> memory, std::uint32_t stream, wire::StreamWriter::Sink sink)
    : memory_(std::move(memory)),
      writer_(stream, std::move(sink)),
      clock_(memory_->ticks_are_ns()),
      rings_(memory_->rings()),
      stream_(stream) {
  writer_.keep_state();
  const TickClock::Reading now = clock_.read();
  last_drain_ns_ = begun_ns_ = now.ns;
  report_clock(now);
}

void ProcessDrain::name_frames_by(FrameNamer& namer, std::int64_t process, std::uint32_t user) {
  namer_ = &namer;
  process_ = process;
  perf_map_ = std::make_shared<PerfMap>(process, user);
}

void ProcessDrain::add_job_fact(std::string_view key, std::string_view value) {
  writer_.add_job_fact(key, value);
}

void ProcessDrain::mark(std::string_view name) {
  wire::MarkerRecord marker;
  marker.name = writer_.define_string(name);
  writer_.add(marker, last_drain_ns_);
}

void ProcessDrain::note_attached(bool has_driver) {
  may_hold_memory_ = has_driver;
  add_job_fact(wire::attached_fact, "yes");
  mark(wire::attached_mark);
}

void ProcessDrain::note_left_alone() {
  may_hold_memory_ = is_left_alone_ = true;
  add_job_fact(wire::attached_fact, wire::left_alone);
  add_job_fact(wire::driver_calls_fact, std::string(wire::not_recorded) + "nothing is loaded into the job (--totals)");
  mark(wire::left_alone_mark);
}

void ProcessDrain::report_clock(const TickClock::Reading& now) {
  if (has_clock_ && now.ns - last_clock_ns_ < clock_record_ns) return;
  wire::ClockRecord record;
  record.realtime_ns = realtime_ns();
  record.tsc = memory_->ticks_are_ns() ? 0 : now.ticks;
  writer_.add(record, now.ns);
  repeat_pool_figures(now.ns);
  last_clock_ns_ = now.ns;
  has_clock_ = true;
}

// Slows down step by step: after a pause a job goes on as before it.
void ProcessDrain::plan_next_round(std::uint64_t most_bytes, std::int64_t round_ns) {
  constexpr std::int64_t slowest_ns = 1'000'000'000;
  std::int64_t wanted_ns = slowest_ns;
  if (most_bytes > 0) {
    const std::uint64_t filled = std::min(most_bytes, memory_->ring_bytes());  // The job may have overwritten the head.
    wanted_ns = std::min(round_ns, slowest_ns) * static_cast<std::int64_t>(memory_->ring_bytes() / 4) /
                static_cast<std::int64_t>(filled);
  }
  next_round_ns_ = std::min(wanted_ns, 2 * next_round_ns_ + 1'000);
}

void ProcessDrain::drain(bool is_last) {
  const TickClock::Reading now = clock_.read();
  clock_.note(now);
  std::size_t busy = 0;
  std::uint64_t until = now.ticks;
  const std::uint64_t held_longest = clock_.ticks_from_ns(now.ns - hold_max_ns);
  used_rings_ = memory_->used_rings();
  freeing_since_ = 0;
  std::uint64_t most_bytes = 0;  // In one ring.
  for (const std::uint32_t i : used_rings_) {
    // Read before the heads: a call that has ended by now has published its row before the head.
    const std::uint64_t freeing_since = memory_->freeing_since(i);
    if (freeing_since > held_longest && !is_last)
      until = std::min(until, freeing_since - 1);
    else if (freeing_since != 0)
      freeing_since_ = freeing_since_ == 0 ? freeing_since : std::min(freeing_since_, freeing_since);
    rings_[i].head = memory_->head(i);
    most_bytes = std::max(most_bytes, rings_[i].head - rings_[i].tail);
    busy += rings_[i].head != 0 || freeing_since != 0 ? 1 : 0;
  }
  // Read after the heads: everything that the rows refer to is defined by now.
  take_definitions();
  write_names();
  if (busy > 1) until = std::min(until, clock_.ticks_from_ns(now.ns - merge_window_ns));
  if (is_last) until = ~std::uint64_t{0};
  take_rows(until, is_last);
  note_losses(now.ns);
  report_clock(now);
  plan_next_round(most_bytes, now.ns - last_drain_ns_);
  last_drain_ns_ = now.ns;
  for (Failure& failure : watch_.take(now.ns, is_last)) add_failure(failures_, std::move(failure));
  if (is_last)
    writer_.flush();
  else
    writer_.flush_if_older(now.ns, wire::block_age_ns_live);
  writer_.write_keyframe_if_due();
}

void ProcessDrain::take_definitions() {
  const auto take = [&](const Row& row) {
    switch (row.kind) {
      case wire::RecordKind::string: {
        const auto record = row.as<wire::StringRecord>();
        if (record.id == texts_.size()) texts_.push_back(row.text);
        add_id(strings_, record.id, writer_.define_string(row.text));
        break;
      }
      case wire::RecordKind::frame: {
        const auto record = row.as<wire::FrameRecord>();
        add_id(frames_, record.id, writer_.define_frame(text(record.function), text(record.file), record.line));
        break;
      }
      case wire::RecordKind::code: define_code_frame(row); break;
      case wire::RecordKind::module: define_module(row); break;
      case wire::RecordKind::stack: {
        const auto record = row.as<wire::StackRecord>();
        add_id(stacks_, record.id, writer_.define_stack(stack(record.parent), id_of(frames_, record.frame)));
        break;
      }
      case wire::RecordKind::heap: {
        auto record = row.as<wire::HeapRecord>();
        const std::uint32_t of_job = record.id;
        record.parent = heap(record.parent);
        const std::string_view name = text(record.name), kind = text(record.memory_kind), uuid = text(record.uuid);
        record.uuid = uuid.empty() ? 0 : writer_.define_string(uuid);
        note_device(record.device, std::string(uuid));
        if (of_job == heap_names_.size()) heap_names_.emplace_back(name);
        const bool has_named_blocks = (record.flags & wire::has_named_blocks) != 0;
        record.flags &= ~wire::has_named_blocks;
        add_id(heaps_, of_job, writer_.define_heap(record, name, kind));
        frameworks_.add_heap(heap(of_job), record, has_named_blocks);
        break;
      }
      case wire::RecordKind::job: note_fact(row); break;
      default: is_broken_ = true; break;
    }
  };
  memory_->take_definitions(take, is_broken_);
}

// All other facts are recorded only by the observer itself.
void ProcessDrain::note_fact(const Row& row) {
  const auto record = row.as<wire::JobRecord>();
  if (record.key >= texts_.size() || record.value >= texts_.size()) return;
  const std::string& key = texts_[record.key];
  if (key == wire::command_fact || key == wire::rank_fact || key.starts_with(wire::variable_facts) ||
      key.starts_with(wire::late_variable_facts) || key.starts_with(wire::program_facts) ||
      key.starts_with(wire::version_facts) || key == wire::agent_fact)
    add_job_fact(key, texts_[record.value]);
  if (key != wire::driver_calls_fact) return;
  driver_calls_ = texts_[record.value];
  may_hold_memory_ = may_hold_memory_ || !driver_calls_->starts_with(wire::not_recorded_yet);
  add_job_fact(wire::driver_calls_fact, *driver_calls_);
}

void ProcessDrain::define_module(const Row& row) {
  auto record = row.as<wire::ModuleRecord>();
  if (record.id != modules_.size()) return;
  auto module = std::make_shared<CodeModule>();
  module->path = text(record.path);
  module->build_id = text(record.build_id);
  module->base = record.base;
  module->process = process_;
  module->id = writer_.define_module(record, module->path, module->build_id);
  modules_.push_back(std::move(module));
}

// Until its function is known, a frame's name is its position: "libtorch.so+0x1f2c".
void ProcessDrain::define_code_frame(const Row& row) {
  auto record = row.as<wire::CodeRecord>();
  const std::uint32_t of_job = record.frame;
  const auto module = record.module < modules_.size() ? modules_[record.module] : nullptr;
  std::array<char, 24> number{};
  const std::uint64_t offset = module ? record.address - module->base : record.address;
  std::snprintf(number.data(), number.size(), "0x%llx", static_cast<unsigned long long>(offset));
  const std::string place =
      module ? module->path.substr(module->path.rfind('/') + 1) + "+" + number.data() : number.data();
  record.module = module ? module->id : 0;
  const std::uint32_t frame =
      writer_.define_code_frame(record, place, module ? std::string_view(module->path) : std::string_view());
  add_id(frames_, of_job, frame);
  if (namer_ == nullptr) return;
  if (module)
    namer_->ask(stream_, frame, record.address, module);
  else
    namer_->ask(stream_, frame, record.address, perf_map_);
}

void ProcessDrain::write_names() {
  if (namer_ == nullptr) return;
  for (const FrameNamer::Answer& answer : namer_->take_answers(stream_))
    writer_.name_frame(answer.frame, answer.function, answer.file, answer.line);
}

bool ProcessDrain::finish_names() {
  write_names();
  writer_.flush();
  return namer_ == nullptr || namer_->is_done(stream_);
}

void ProcessDrain::take_rows(std::uint64_t until_ticks, bool is_last) {
  using Next = std::pair<std::uint64_t, std::uint32_t>;  // Ticks and ring; the oldest first.
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  std::vector<std::uint64_t> places(rings_.size());  // The position after the row that waits.
  const auto read = [&](std::uint32_t number) {
    Ring& ring = rings_[number];
    places[number] = ring.tail;
    ring.row = memory_->next(number, places[number], ring.head, is_broken_);
    if (!ring.row) {
      if (ring.tail != ring.head) memory_->set_tail(number, ring.reported_tail = ring.tail = ring.head);
    } else if (ring.row->ticks <= until_ticks) {
      queue.emplace(ring.row->ticks, number);
    }
  };
  for (const std::uint32_t i : used_rings_)
    if (rings_[i].tail != rings_[i].head) read(i);
  // Not more than this at once, because other processes and viewers wait; what remains is taken in the next round.
  constexpr std::uint64_t work_a_round = 1U << 20, work_of_listing = work_a_round / 16;
  std::uint64_t work = 0;
  while (!queue.empty()) {
    if (work >= work_a_round && !is_last) break;
    const std::uint32_t number = queue.top().second;
    queue.pop();
    Ring& ring = rings_[number];
    work += ring.row->kind == wire::RecordKind::listing ? work_of_listing : 1;
    // A loss is reported in the ring where it happened, with the total that the ring has lost so far.
    if (ring.row->kind == wire::RecordKind::loss) {
      const auto loss = ring.row->as<wire::LossRecord>();
      if (loss.count > ring.reported_lost) {
        const std::uint64_t more = plausible_loss(loss.count - ring.reported_lost);
        ring.reported_lost = loss.count;
        lost_ += more;
        writer_.note_loss(more, clock_.ns_from_ticks(loss.since_ns), clock_.ns_from_ticks(ring.row->ticks));
        memory_->ask_for_listings();
      }
    } else {
      write(*ring.row);
    }
    ring.tail = places[number];
    if (ring.tail - ring.reported_tail >= reported_step_bytes)
      memory_->set_tail(number, ring.reported_tail = ring.tail);
    read(number);
  }
  for (const std::uint32_t i : used_rings_)
    if (rings_[i].reported_tail != rings_[i].tail) memory_->set_tail(i, rings_[i].reported_tail = rings_[i].tail);
}

// Even a call that only counts its loss takes a nanosecond. What counts more has overwritten the number, and one event
// at least is missing.
std::uint64_t ProcessDrain::plausible_loss(std::uint64_t count) {
  constexpr std::int64_t before_ns = 3'600'000'000'000;  // It may have waited for its observer.
  const auto longest_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, last_drain_ns_ - begun_ns_) + before_ns);
  if (count <= longest_ns) return count;
  is_broken_ = has_noted_breach_ = true;
  return 1;
}

// Losses that no ring has reported: of threads that were silent since, or had no ring.
void ProcessDrain::note_losses(std::int64_t now_ns) {
  std::uint64_t more = 0;
  for (const std::uint32_t i : used_rings_) {
    Ring& ring = rings_[i];
    const std::uint64_t lost = ring.tail == memory_->head(i) ? memory_->lost(i) : ring.reported_lost;
    if (lost <= ring.reported_lost) continue;
    more += plausible_loss(lost - ring.reported_lost);
    ring.reported_lost = lost;
  }
  const std::uint64_t without_ring = memory_->events_without_ring();
  if (without_ring > lost_without_ring_) more += plausible_loss(without_ring - lost_without_ring_);
  lost_without_ring_ = without_ring;
  if (is_broken_ && !std::exchange(has_noted_breach_, true)) ++more;  // At least: what came after is unknown.
  if (more == 0) return;
  lost_ += more;
  writer_.note_loss(more, last_drain_ns_, now_ns);
  memory_->ask_for_listings();
}

template <class Record>
Record ProcessDrain::translated(const Row& row) const {
  auto record = row.as<Record>();
  if constexpr (requires { record.heap; }) record.heap = heap(record.heap);
  if constexpr (requires { record.stack; }) record.stack = stack(record.stack);
  if constexpr (requires { record.tag; }) record.tag = string(record.tag);
  if constexpr (requires { record.name; }) record.name = string(record.name);
  if constexpr (requires { record.key; }) record.key = string(record.key);
  if constexpr (requires { record.key; }) record.value = string(record.value);
  if constexpr (requires { record.reason; }) record.reason = string(record.reason);
  if constexpr (requires { record.call; }) record.call = string(record.call);
  return record;
}

void ProcessDrain::write_listing(const wire::ListingRecord& listing, std::int64_t time_ns) {
  std::vector<wire::RegionLiveRecord> regions;
  std::vector<wire::LiveRecord> blocks;
  take_definitions();  // The listing may refer to definitions made since this round began.
  const auto take = [&](const Row& row) {
    if (row.kind == wire::RecordKind::region_live) regions.push_back(translated<wire::RegionLiveRecord>(row));
    if (row.kind != wire::RecordKind::live) return;
    blocks.push_back(translated<wire::LiveRecord>(row));
    blocks.back().event = wire::before_the_stream;
  };
  memory_->take_listing(take, is_broken_);
  if (listing.heap != 0) writer_.list_heap(listing.heap, regions, blocks, time_ns);
}

// Whether it is a block of the driver, or a record that only the driver has.
bool ProcessDrain::is_of_driver(const Row& row) {
  switch (row.kind) {
    case wire::RecordKind::alloc: return (row.as<wire::AllocRecord>().flags & wire::driver_block) != 0;
    case wire::RecordKind::free_at: return (row.as<wire::FreeAtRecord>().heap & wire::block_at_or_in) != 0;
    case wire::RecordKind::attribute: return true;
    default: return row.kind >= wire::RecordKind::physical_create && row.kind <= wire::RecordKind::unmap;
  }
}

void ProcessDrain::free_of_driver(const Row& row, std::int64_t time_ns) {
  const std::uint32_t what = row.as<wire::FreeAtRecord>().heap;
  auto record = translated<wire::FreeAtRecord>(row);
  if (what == wire::block_of_handle) return driver_.give_handle(record, time_ns);
  if (what == wire::blocks_of) return driver_.give_all_of(record, time_ns);
  record.heap = what == wire::block_at ? 0 : heap(what & ~wire::block_at_or_in);
  driver_.give(record, time_ns);
}

void ProcessDrain::write_of_driver(const Row& row, std::int64_t time_ns) {
  switch (row.kind) {
    case wire::RecordKind::alloc: driver_.take(translated<wire::AllocRecord>(row), time_ns); break;
    case wire::RecordKind::free_at: free_of_driver(row, time_ns); break;
    case wire::RecordKind::attribute: {
      const auto attribute = translated<wire::AttributeRecord>(row);
      if (PoolBlocks::is_meant(attribute))
        frameworks_.note(attribute, time_ns);
      else
        driver_.note(attribute, time_ns);
      break;
    }
    case wire::RecordKind::physical_create: driver_.create(translated<wire::PhysicalCreateRecord>(row), time_ns); break;
    case wire::RecordKind::physical_import: driver_.import(translated<wire::PhysicalImportRecord>(row), time_ns); break;
    case wire::RecordKind::physical_export:
      driver_.export_handle(translated<wire::PhysicalExportRecord>(row), time_ns);
      break;
    case wire::RecordKind::physical_release:
      driver_.release(translated<wire::PhysicalReleaseRecord>(row), time_ns);
      break;
    case wire::RecordKind::reserve: driver_.reserve(translated<wire::ReserveRecord>(row), time_ns); break;
    case wire::RecordKind::unreserve: driver_.unreserve(translated<wire::UnreserveRecord>(row), time_ns); break;
    case wire::RecordKind::map: driver_.map(translated<wire::MapRecord>(row), time_ns); break;
    default: driver_.unmap(translated<wire::UnmapRecord>(row), time_ns); break;
  }
}

void ProcessDrain::watch(const Row& row, std::int64_t time_ns) {
  switch (row.kind) {
    case wire::RecordKind::alloc: {
      const auto record = row.as<wire::AllocRecord>();
      if ((record.flags & wire::driver_block) != 0 || watch_.pending() > 0) watch_.note_taken(record.heap, record.size);
      break;
    }
    case wire::RecordKind::physical_create: {
      const auto record = row.as<wire::PhysicalCreateRecord>();
      if (record.handle < wire::graph_handles) watch_.note_taken(record.heap, record.size);
      break;
    }
    case wire::RecordKind::driver_refusal: {
      const auto record = row.as<wire::DriverRefusalRecord>();
      watch_.note_refusal(record.heap, record.requested, heap_name(record.heap), text(record.call), time_ns,
                          record.available == wire::unknown_bytes ? std::nullopt : std::optional(record.available));
      break;
    }
    case wire::RecordKind::out_of_memory: {
      const auto record = row.as<wire::OutOfMemoryRecord>();
      watch_.note_out_of_memory(record.requested, heap_name(record.heap), text(record.reason));
      break;
    }
    default: break;
  }
}

void ProcessDrain::write(const Row& row) {
  const std::int64_t time_ns = clock_.ns_from_ticks(row.ticks);
  watch(row, time_ns);
  may_hold_memory_ = may_hold_memory_ || row.kind == wire::RecordKind::driver_refusal;
  if (is_of_driver(row)) {
    may_hold_memory_ = true;
    driver_.begin_row(row.ticks, freeing_since_);
    write_of_driver(row, time_ns);
    return;
  }
  switch (row.kind) {
    case wire::RecordKind::alloc: frameworks_.alloc(translated<wire::AllocRecord>(row), time_ns); break;
    case wire::RecordKind::free_at: frameworks_.free(translated<wire::FreeAtRecord>(row), time_ns); break;
    case wire::RecordKind::free_requested_at: {
      const auto record = translated<wire::FreeRequestedAtRecord>(row);
      writer_.free_requested(record.heap, record.address, record.size, record.stack, time_ns);
      break;
    }
    case wire::RecordKind::move_at: frameworks_.move(translated<wire::MoveAtRecord>(row), time_ns); break;
    case wire::RecordKind::region_grow: writer_.add(translated<wire::RegionGrowRecord>(row), time_ns); break;
    case wire::RecordKind::region_shrink: writer_.add(translated<wire::RegionShrinkRecord>(row), time_ns); break;
    case wire::RecordKind::heap_gone: frameworks_.drop_heap(translated<wire::HeapGoneRecord>(row), time_ns); break;
    case wire::RecordKind::driver_refusal: writer_.add(translated<wire::DriverRefusalRecord>(row), time_ns); break;
    case wire::RecordKind::out_of_memory: writer_.add(translated<wire::OutOfMemoryRecord>(row), time_ns); break;
    case wire::RecordKind::marker: writer_.add(translated<wire::MarkerRecord>(row), time_ns); break;
    case wire::RecordKind::counter: {
      const std::string_view name = text(row.as<wire::CounterRecord>().name);
      const auto figure = translated<wire::CounterRecord>(row);
      note_pool_figure(figure, name);
      frameworks_.note_figure(figure, name, time_ns);
      break;
    }
    case wire::RecordKind::live: frameworks_.list(translated<wire::LiveRecord>(row), time_ns); break;
    case wire::RecordKind::listing: write_listing(translated<wire::ListingRecord>(row), time_ns); break;
    default: is_broken_ = true; break;
  }
}

}  // namespace hbmscope::serve
