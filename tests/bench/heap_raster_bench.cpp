// The cost of drawing a heap map, compared with the minimum: writing the pixels (memset) and reading the blocks once (a
// plain scan) on one core; the map is drawn by up to four. A heap of 80 GiB, 1920 x 1080.
//
//   heap_raster_bench [BLOCKS]     a million by default
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "app/gui/core/heap_raster.h"
#include "collector/wire/stream_writer.h"

namespace {

using namespace hbmscope;

template <class Work>
double best_ms(const Work& work) {
  double best = 1e9;
  for (int round = 0; round < 15; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Blocks and free pieces by turns, sizes over three powers of ten, eight lines of code.
Stream make_stream(std::uint64_t blocks, std::uint64_t region) {
  Stream stream;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  wire::HeapRecord heap;
  heap.flags = wire::heap_flag::has_requested | wire::heap_flag::has_regions | wire::heap_flag::has_addresses;
  writer.define_heap(heap, "GPU 0", "device");
  wire::RegionGrowRecord grown;
  grown.size = region;
  grown.heap = 1;
  writer.add(grown, 0);
  std::vector<std::uint32_t> stacks;
  for (std::uint32_t i = 0; i < 12; ++i)
    stacks.push_back(writer.define_stack(0, writer.define_frame("step", "train.py", i)));
  std::mt19937_64 random(1);
  const std::uint64_t share = region / blocks;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    wire::AllocRecord block;
    block.address = i * share;
    block.size = std::max<std::uint64_t>(512, random() % share / 512 * 512);
    block.requested = block.size - random() % 512;
    block.heap = 1;
    block.stack = stacks[random() % stacks.size()];
    writer.alloc(block, static_cast<std::int64_t>(i));
  }
  writer.flush();
  return stream;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t blocks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  constexpr std::uint64_t region = std::uint64_t{80} << 30;
  if (blocks == 0) return 1;
  const Stream stream = make_stream(blocks, region);
  gui::HeapSpans spans;
  const double made_ms = best_ms(
      [&] { spans = gui::compute_heap_spans(stream, stream.last_state(), 1, gui::HeapColoring::user_code, {}); });
  const gui::HeapMapView fit = gui::fit_heap_map(spans, 1920, 1080);
  gui::HeapRaster raster;
  const double drawn_ms = best_ms([&] { raster.draw(spans, fit, gui::Theme::dark); });
  const gui::HeapMapView near = gui::zoom_heap_map(spans, fit, 1080, 100, 960, 540);
  const double near_ms = best_ms([&] { raster.draw(spans, near, gui::Theme::dark); });

  std::vector<gui::Pixel> pixels(1920 * 1080);
  volatile std::uint64_t sink = 0;
  const double floor_ms = best_ms([&] {
    std::fill(pixels.begin(), pixels.end(), static_cast<gui::Pixel>(sink));
    std::uint64_t sum = 0;
    for (const gui::HeapSpan& span : spans.spans) sum += span.size + span.shade;
    sink = sum + pixels[pixels.size() / 2];
  });
  const auto per_span = [&](double ms) { return ms * 1e6 / static_cast<double>(spans.spans.size()); };
  std::printf("%zu pieces (%llu blocks), %d rows of %d px at a pitch of %d\n", spans.spans.size(),
              static_cast<unsigned long long>(blocks), fit.rows, fit.width, fit.pitch);
  std::printf("pieces from the state  %8.2f ms  %6.1f ns a piece (a worker's)\n", made_ms, per_span(made_ms));
  std::printf("raster, all            %8.2f ms  %6.1f ns a piece\n", drawn_ms, per_span(drawn_ms));
  std::printf("raster, 100 x nearer   %8.2f ms\n", near_ms);
  std::printf("floor: fill and scan   %8.2f ms  %6.1f ns a piece; raster is %.1f times that\n", floor_ms,
              per_span(floor_ms), drawn_ms / floor_ms);
  return 0;
}
