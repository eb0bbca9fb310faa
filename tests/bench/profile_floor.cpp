// The minimum work to open a profile and print its top: read, inflate with libdeflate, decode the samples into flat
// columns, and add up flat and cumulative bytes by function. No errors, no labels, no texts except the printed names,
// no filters, no unknown sizes. Everything that hbmscope costs beyond this is the price of being useful.
//
// Written as fast as possible with portable means, and sharing no code with analysis/, so that a slow idea there is not
// repeated here. One million samples of 40 frames (105 MB inflated): inflating is serial and takes half of the time,
// the rest runs on as many threads as hbmscope uses.
//
//   profile_floor FILE THREADS     prints the ten largest as "flat_bytes cum_bytes function"
#include <libdeflate.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Byte = unsigned char;

struct Range {
  const Byte* begin;
  const Byte* end;
};

std::uint64_t varint(const Byte*& at) {
  std::uint64_t value = *at & 0x7f;
  for (unsigned shift = 7; *at++ >= 0x80; shift += 7) value |= static_cast<std::uint64_t>(*at & 0x7f) << shift;
  return value;
}

// Calls visit(field number, integer, bytes) for every field; profiles have only these two wire types.
template <class Visit>
void for_fields(Range range, const Visit& visit) {
  for (const Byte* at = range.begin; at < range.end;) {
    const std::uint64_t tag = varint(at), number = varint(at);
    if ((tag & 7) == 0) {
      visit(tag >> 3, number, Range{nullptr, nullptr});
    } else {
      visit(tag >> 3, std::uint64_t{0}, Range{at, at + number});
      at += number;
    }
  }
}

struct Chunk {
  Range bytes;
  std::size_t samples = 0, first_sample = 0;
};

// Samples are stored consecutively; threads take chunks of them.
struct Message {
  std::vector<Chunk> chunks;
  std::vector<Range> locations, functions, strings;
  std::size_t samples = 0;
};

Message index(Range message) {
  Message out;
  for (const Byte* at = message.begin; at < message.end;) {
    const Byte* begin = at;
    const std::uint64_t tag = varint(at), length = varint(at);
    if ((tag & 7) == 0) continue;
    const Range body{at, at + length};
    at = body.end;
    if (tag >> 3 == 2) {
      if (out.chunks.empty() || out.chunks.back().samples == 4096) out.chunks.push_back({{begin, at}, 0, out.samples});
      out.chunks.back().bytes.end = at;
      ++out.chunks.back().samples;
      ++out.samples;
    } else if (tag >> 3 == 4) {
      out.locations.push_back(body);
    } else if (tag >> 3 == 5) {
      out.functions.push_back(body);
    } else if (tag >> 3 == 6) {
      out.strings.push_back(body);
    }
  }
  return out;
}

// Functions of one name in one file are one row, as in pprof's and in hbmscope's tables.
struct Names {
  std::vector<std::uint32_t> row_of_location;  // By location id.
  std::vector<std::uint64_t> name_of_row;
};

Names name_locations(const Message& message) {
  Names names;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> rows;
  std::vector<std::uint32_t> row_of_function(message.functions.size() + 1);
  for (const Range function : message.functions) {
    std::uint64_t id = 0, name = 0, file = 0;
    for_fields(function, [&](std::uint64_t field, std::uint64_t number, Range) {
      if (field == 1) id = number;
      if (field == 2) name = number;
      if (field == 4) file = number;
    });
    const auto [place, is_new] = rows.try_emplace({name, file}, static_cast<std::uint32_t>(rows.size()));
    if (is_new) names.name_of_row.push_back(name);
    row_of_function[id] = place->second;
  }
  names.row_of_location.resize(message.locations.size() + 1);
  for (const Range location : message.locations) {
    std::uint64_t id = 0, function = 0;
    for_fields(location, [&](std::uint64_t field, std::uint64_t number, Range bytes) {
      if (field == 1) id = number;
      if (field == 4)
        for_fields(bytes, [&](std::uint64_t line_field, std::uint64_t line_number, Range) {
          if (line_field == 1) function = line_number;
        });
    });
    names.row_of_location[id] = row_of_function[function];
  }
  return names;
}

// Uninitialised memory: pages that nobody writes to are never touched.
template <class T>
struct Column {
  explicit Column(std::size_t count) : data(static_cast<T*>(std::malloc(count * sizeof(T)))) {}
  ~Column() { std::free(data); }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  T* data;
};

struct Columns {
  explicit Columns(const Message& message, std::size_t location_bytes)
      : count(message.samples), bytes(message.samples), stack_end(message.samples), stack(location_bytes) {}
  Column<std::int64_t> count, bytes;
  Column<std::uint64_t> stack_end;
  Column<std::uint32_t> stack;  // A chunk's locations begin at the offset of its first byte: room for one per byte.
};

void decode(const Chunk& chunk, const Byte* base, Columns& columns) {
  std::uint32_t* out = columns.stack.data + (chunk.bytes.begin - base);
  std::size_t sample = chunk.first_sample;
  for (const Byte* at = chunk.bytes.begin; at < chunk.bytes.end; ++sample) {
    varint(at);
    const std::uint64_t length = varint(at);
    const Byte* end = at + length;
    while (at < end) {
      const Byte tag = *at++;
      const std::uint64_t size = varint(at);
      const Byte* field_end = at + size;
      if (tag == 0x0a) {
        while (at < field_end) {
          std::uint32_t id = *at++;
          if (id >= 0x80) {
            id = (id & 0x7f) | static_cast<std::uint32_t>(*at) << 7;
            if (*at++ >= 0x80) {
              id = (id & 0x3fff) | static_cast<std::uint32_t>(*at) << 14;
              if (*at++ >= 0x80) id = (id & 0x1fffff) | static_cast<std::uint32_t>(*at++) << 21;
            }
          }
          *out++ = id;
        }
      } else if (tag == 0x12) {
        columns.count.data[sample] = static_cast<std::int64_t>(varint(at));
        columns.bytes.data[sample] = static_cast<std::int64_t>(varint(at));
      }
      at = field_end;
    }
    columns.stack_end.data[sample] = static_cast<std::uint64_t>(out - columns.stack.data);
  }
}

struct Row {
  std::int64_t cum = 0, flat = 0;
  std::uint64_t seen = 0;
};

void aggregate(const Chunk& chunk, const Byte* base, const Columns& columns, const Names& names,
               std::vector<Row>& rows) {
  auto at = static_cast<std::uint64_t>(chunk.bytes.begin - base);
  for (std::size_t sample = chunk.first_sample; sample < chunk.first_sample + chunk.samples; ++sample) {
    const std::uint64_t end = columns.stack_end.data[sample];
    const std::int64_t bytes = columns.bytes.data[sample];
    if (at < end) rows[names.row_of_location[columns.stack.data[at]]].flat += bytes;
    for (; at < end; ++at) {
      Row& row = rows[names.row_of_location[columns.stack.data[at]]];
      if (row.seen == sample + 1) continue;
      row.seen = sample + 1;
      row.cum += bytes;
    }
  }
}

template <class Work>
void on_threads(unsigned threads, const Work& work) {
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0U);
  for (std::thread& other : others) other.join();
}

std::vector<Byte> read_file(const char* path) {
  std::vector<Byte> bytes;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return bytes;
  std::fseek(file, 0, SEEK_END);
  bytes.resize(static_cast<std::size_t>(std::ftell(file)));
  std::rewind(file);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const unsigned threads = static_cast<unsigned>(std::max(1, std::atoi(argv[2])));
  const std::vector<Byte> file = read_file(argv[1]);
  if (file.size() < 18) return 3;
  std::uint32_t size = 0;  // gzip's last four bytes; little endian as on every machine this runs on.
  std::memcpy(&size, file.data() + file.size() - 4, 4);
  const Column<Byte> message(size);
  libdeflate_decompressor* inflater = libdeflate_alloc_decompressor();
  if (libdeflate_gzip_decompress(inflater, file.data(), file.size(), message.data, size, nullptr) != LIBDEFLATE_SUCCESS)
    return 3;
  libdeflate_free_decompressor(inflater);

  const Message parts = index({message.data, message.data + size});
  const Names names = name_locations(parts);
  Columns columns(parts, size);
  std::vector<std::vector<Row>> sums(threads);
  std::atomic<std::size_t> next = 0;
  on_threads(threads, [&](unsigned thread) {
    std::vector<Row>& rows = sums[thread];
    rows.resize(names.name_of_row.size());
    // While a chunk's columns are still in the cache.
    for (std::size_t chunk = next++; chunk < parts.chunks.size(); chunk = next++) {
      decode(parts.chunks[chunk], message.data, columns);
      aggregate(parts.chunks[chunk], message.data, columns, names, rows);
    }
  });
  std::vector<std::size_t> order(names.name_of_row.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (unsigned thread = 1; thread < threads; ++thread)
    for (std::size_t i = 0; i < order.size(); ++i) {
      sums[0][i].flat += sums[thread][i].flat;
      sums[0][i].cum += sums[thread][i].cum;
    }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return sums[0][a].flat > sums[0][b].flat; });
  for (std::size_t i = 0; i < std::min<std::size_t>(10, order.size()); ++i) {
    const Range name = parts.strings[names.name_of_row[order[i]]];
    std::printf("%lld %lld %.*s\n", static_cast<long long>(sums[0][order[i]].flat),
                static_cast<long long>(sums[0][order[i]].cum), static_cast<int>(name.end - name.begin),
                reinterpret_cast<const char*>(name.begin));
  }
  std::fflush(stdout);
  std::_Exit(0);  // Giving a gigabyte of address space back page by page is nobody's answer.
}
