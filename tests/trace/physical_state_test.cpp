// Handles, mappings and reservations, compared with a naive model that keeps one row per page, on seeded random
// streams: handles mapped twice, released while mapped, imported; unmaps of parts, of several mappings at once and of
// nothing.
#include "analysis/trace/physical_state.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"
#include "tests/trace/restored.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t page = 2 << 20, pages = 48, first_address = page * 1000;
constexpr std::uint32_t heaps = 3;  // Includes heap 0, none.

struct NaiveHandle {
  std::uint32_t heap = 0;
  std::uint64_t pages = 0;
  int references = 1;
  bool is_imported = false, is_exported = false;
};
struct NaivePage {
  int handle = -1;   // In NaiveModel::handles; -1: unknown.
  int mapping = -1;  // -1: nothing is mapped.
};

struct NaiveModel {
  std::vector<NaiveHandle> handles;
  std::map<std::uint64_t, int> handle_of_number;
  NaivePage mapped[heaps][pages];
  bool reserved[heaps][pages] = {};
  int mappings = 0;
  PhysicalProblems problems;

  PhysicalBytes sums(std::uint32_t heap) const {
    PhysicalBytes sums;
    std::set<int> shown;
    for (const auto& row : mapped)
      for (const NaivePage& at : row)
        if (at.mapping >= 0) shown.insert(at.handle);
    for (std::size_t i = 0; i < handles.size(); ++i) {
      const NaiveHandle& handle = handles[i];
      const bool is_shown = shown.count(static_cast<int>(i)) > 0;
      if (handle.heap != heap || (handle.references == 0 && !is_shown)) continue;
      ++sums.handles;
      (handle.is_imported ? sums.imported_bytes : sums.owned_bytes) += handle.pages * page;
      if (!handle.is_imported && !is_shown) sums.unmapped_bytes += handle.pages * page;
      if (!handle.is_imported && handle.is_exported) sums.exported_bytes += handle.pages * page;
    }
    for (std::uint64_t i = 0; i < pages; ++i) {
      if (mapped[heap][i].mapping >= 0) sums.mapped_bytes += page;
      if (reserved[heap][i]) sums.reserved_bytes += page;
    }
    return sums;
  }

  // Contiguous pages of one mapping count as one mapping; mappings that extend beyond the range lose a part.
  void unmap(std::uint32_t heap, std::uint64_t begin, std::uint64_t end, bool is_unmap) {
    NaivePage* row = mapped[heap];
    bool has_gap = false, has_any = false;
    for (std::uint64_t i = begin; i < end; ++i) {
      const int id = row[i].mapping;
      has_gap |= id < 0;
      has_any |= id >= 0;
      if (id < 0 || (i > begin && row[i - 1].mapping == id)) continue;
      std::uint64_t last = i;
      while (last + 1 < pages && row[last + 1].mapping == id) ++last;
      const bool goes_on = (i > 0 && row[i - 1].mapping == id) || last >= end;
      if (goes_on && is_unmap) ++problems.partial_unmaps;
    }
    if (is_unmap && has_gap) ++problems.unknown_unmaps;
    if (!is_unmap && has_any) ++problems.missed_unmaps;
    for (std::uint64_t i = begin; i < end; ++i) row[i] = {};
  }
};

class Scenario {
 public:
  explicit Scenario(unsigned seed)
      : random_(seed),
        writer_(0, [this](const wire::SharedBlock& block) { ASSERT_EQ(std::nullopt, stream.append(block)); }) {
    for (std::uint32_t heap = 1; heap < heaps; ++heap) writer_.define_heap({}, "GPU " + std::to_string(heap), "device");
    moments.push_back(now);
  }

  void run(std::size_t events) {
    while (moments.size() <= events) {
      step();
      moments.push_back(now);
      if (random_() % 40 == 0) writer_.flush();
    }
    writer_.flush();
  }

  Stream stream;
  NaiveModel now;
  std::vector<NaiveModel> moments;  // By position.

 private:
  void step() {
    heap_ = 1 + static_cast<std::uint32_t>(random_() % (heaps - 1));
    number_ = 1 + random_() % 12;
    begin_ = random_() % pages;
    end_ = begin_ + 1 + random_() % std::min<std::uint64_t>(8, pages - begin_);
    switch (random_() % 16) {
      case 0:
      case 1:
      case 2: return create(false);
      case 3: return create(true);
      case 4:
      case 5: return release();
      case 6: return export_handle();
      case 7: return reserve(true);
      case 8: return reserve(false);
      case 9:
      case 10:
      case 11: return unmap();
      default: return map();
    }
  }

  template <class Record>
  void add(Record record) {
    writer_.add(record, ++time_);
  }

  void create(bool is_imported) {
    const auto found = now.handle_of_number.find(number_);
    const auto fill = [&](auto record) {
      record.handle = number_;
      record.heap = heap_;
      record.size = (end_ - begin_) * page;
      add(record);
    };
    is_imported ? fill(wire::PhysicalImportRecord{}) : fill(wire::PhysicalCreateRecord{});
    if (found != now.handle_of_number.end()) {
      NaiveHandle& before = now.handles[static_cast<std::size_t>(found->second)];
      if (is_imported) {
        ++before.references;
        return;
      }
      ++now.problems.missed_releases;
      before.references = 0;
    }
    now.handle_of_number[number_] = static_cast<int>(now.handles.size());
    now.handles.push_back({heap_, end_ - begin_, 1, is_imported, false});
  }

  void release() {
    wire::PhysicalReleaseRecord record;
    record.handle = number_;
    add(record);
    const auto found = now.handle_of_number.find(number_);
    if (found == now.handle_of_number.end())
      ++now.problems.unknown_releases;
    else if (--now.handles[static_cast<std::size_t>(found->second)].references == 0)
      now.handle_of_number.erase(found);
  }

  void export_handle() {
    wire::PhysicalExportRecord record;
    record.handle = number_;
    add(record);
    const auto found = now.handle_of_number.find(number_);
    if (found == now.handle_of_number.end())
      ++now.problems.unknown_releases;
    else
      now.handles[static_cast<std::size_t>(found->second)].is_exported = true;
  }

  template <class Record>
  Record range() const {
    Record record;
    record.address = first_address + begin_ * page;
    record.size = (end_ - begin_) * page;
    record.heap = heap_;
    return record;
  }

  void map() {
    auto record = range<wire::MapRecord>();
    record.handle = number_;
    add(record);
    now.unmap(heap_, begin_, end_, false);
    const auto found = now.handle_of_number.find(number_);
    if (found == now.handle_of_number.end())
      ++now.problems.unknown_handles;
    else if (now.handles[static_cast<std::size_t>(found->second)].pages < end_ - begin_)
      ++now.problems.beyond_handle;
    const int handle = found == now.handle_of_number.end() ? -1 : found->second;
    for (std::uint64_t i = begin_; i < end_; ++i) now.mapped[heap_][i] = {handle, now.mappings};
    ++now.mappings;
  }

  void unmap() {
    add(range<wire::UnmapRecord>());
    now.unmap(heap_, begin_, end_, true);
  }

  void reserve(bool is_new) {
    is_new ? add(range<wire::ReserveRecord>()) : add(range<wire::UnreserveRecord>());
    bool is_odd = false;
    for (std::uint64_t i = begin_; i < end_; ++i) {
      is_odd |= now.reserved[heap_][i] == is_new;
      now.reserved[heap_][i] = is_new;
    }
    now.problems.bad_reservations += is_odd ? 1 : 0;
  }

  std::mt19937_64 random_;
  wire::StreamWriter writer_;
  std::int64_t time_ = 0;
  std::uint32_t heap_ = 0;
  std::uint64_t number_ = 0, begin_ = 0, end_ = 0;
};

void expect_state(const NaiveModel& naive, const StreamState& state) {
  for (std::uint32_t heap = 1; heap < heaps; ++heap) {
    const PhysicalBytes &is = state.physical().heap(heap), should = naive.sums(heap);
    ASSERT_EQ(should.owned_bytes, is.owned_bytes);
    ASSERT_EQ(should.owned_bytes, state.in_use_bytes(heap));
    ASSERT_EQ(should.mapped_bytes, is.mapped_bytes);
    ASSERT_EQ(should, is);
  }
  ASSERT_EQ(naive.problems, state.physical().problems());
}

TEST(PhysicalState, every_moment_is_what_a_model_of_pages_says) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Scenario scenario(seed);
    scenario.run(900);
    const Stream& stream = scenario.stream;
    ASSERT_EQ(scenario.moments.size() - 1, stream.end_position());
    StreamState walked;
    std::uint64_t peak = 0;
    for (std::uint64_t position = 0; position < scenario.moments.size(); ++position) {
      peak = std::max(peak, scenario.moments[position].sums(1).owned_bytes);
      if (position % 13 != seed % 13) continue;
      SCOPED_TRACE(position);
      const StreamState state = stream.state_at(position);
      stream.advance(walked, position);
      expect_state(scenario.moments[position], state);
      expect_state(scenario.moments[position], walked);
      StreamState again = restored(state, stream.definitions());
      expect_state(scenario.moments[position], again);
      stream.advance(again, stream.end_position());
      expect_state(scenario.now, again);
    }
    ASSERT_EQ(peak, stream.peak(1).in_use_bytes);
    ASSERT_GT(scenario.now.problems.partial_unmaps, 0U);
    ASSERT_GT(scenario.now.problems.unknown_handles, 0U);
  }
}

// The usual life (PyTorch's expandable segments): create, map, release at once; the bytes go with the last unmap.
class PhysicalLife : public ::testing::Test {
 protected:
  PhysicalLife() : writer_(0, [this](wire::SharedBlock block) { stream_.append(std::move(block)); }) {
    heap_ = writer_.define_heap({}, "GPU 0", "device");
  }
  void create(std::uint64_t handle, std::uint64_t size) {
    wire::PhysicalCreateRecord record;
    record.handle = handle;
    record.size = size;
    record.heap = heap_;
    writer_.add(record, 0);
  }
  void release(std::uint64_t handle) {
    wire::PhysicalReleaseRecord record;
    record.handle = handle;
    writer_.add(record, 0);
  }
  void map(std::uint64_t address, std::uint64_t size, std::uint64_t handle) {
    wire::MapRecord record;
    record.address = address;
    record.size = size;
    record.handle = handle;
    record.heap = heap_;
    writer_.add(record, 0);
  }
  void unmap(std::uint64_t address, std::uint64_t size) {
    wire::UnmapRecord record;
    record.address = address;
    record.size = size;
    record.heap = heap_;
    writer_.add(record, 0);
  }
  const PhysicalBytes& now() {
    writer_.flush();
    return stream_.last_state().physical().heap(heap_);
  }
  const PhysicalProblems& problems() { return stream_.last_state().physical().problems(); }

  Stream stream_;
  wire::StreamWriter writer_;
  std::uint32_t heap_ = 0;
};

TEST_F(PhysicalLife, a_handle_mapped_twice_counts_once_until_its_last_unmap) {
  create(7, 2 * page);
  EXPECT_EQ(2 * page, now().unmapped_bytes);
  map(first_address, 2 * page, 7);
  map(first_address + 10 * page, 2 * page, 7);
  release(7);
  EXPECT_EQ(2 * page, now().owned_bytes);
  EXPECT_EQ(4 * page, now().mapped_bytes);
  unmap(first_address, 2 * page);
  EXPECT_EQ(2 * page, now().owned_bytes);
  create(7, page);  // The driver may use the number again.
  EXPECT_EQ(3 * page, now().owned_bytes);
  unmap(first_address + 10 * page, 2 * page);
  EXPECT_EQ(page, now().owned_bytes);
  EXPECT_EQ(0U, now().mapped_bytes);
  EXPECT_EQ(PhysicalProblems{}, problems());
  EXPECT_EQ(3 * page, stream_.peak(heap_).in_use_bytes);
}

TEST_F(PhysicalLife, one_unmap_of_several_mappings_is_as_cuda_has_it_and_one_of_a_part_is_not) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    create(i + 1, page);
    map(first_address + i * page, page, i + 1);
    release(i + 1);
  }
  unmap(first_address, 2 * page);
  EXPECT_EQ(2 * page, now().owned_bytes);
  EXPECT_EQ(PhysicalProblems{}, problems());
  unmap(first_address + 2 * page, page / 2);
  EXPECT_EQ(2 * page, now().owned_bytes) << "some of it is still mapped";
  EXPECT_EQ(1U, problems().partial_unmaps);
  unmap(first_address + 2 * page + page / 2, page / 2);
  EXPECT_EQ(page, now().owned_bytes);
}

TEST_F(PhysicalLife, sizes_that_no_device_has_are_left_out) {
  create(1, ~std::uint64_t{0});
  create(2, 0);
  map(~std::uint64_t{0} - page, 2 * page, 1);
  unmap(first_address, 0);
  create(3, std::uint64_t{1} << 62);
  create(4, std::uint64_t{1} << 62);
  EXPECT_EQ(std::uint64_t{1} << 62, now().owned_bytes);
  EXPECT_EQ(5U, problems().impossible_sizes);
}

TEST_F(PhysicalLife, a_heap_that_is_gone_owns_nothing_and_a_loss_is_said) {
  create(1, page);
  map(first_address, page, 1);
  wire::LossRecord loss;
  writer_.add(loss, 0);
  EXPECT_TRUE(now().is_inexact);
  EXPECT_TRUE(restored(stream_.last_state(), stream_.definitions()).physical().heap(heap_).is_inexact);
  wire::HeapGoneRecord gone;
  gone.heap = heap_;
  writer_.add(gone, 0);
  EXPECT_EQ(PhysicalBytes{}, now());
}

}  // namespace
}  // namespace hbmscope
