#include "allocator/emulated/cuda/driver/copies.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "allocator/emulated/accounts/value_reads.h"
#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace hbmscope::device::driver {
namespace {

bool is_on_device(Address address) {
  const auto range = LockedMachine()->find(address);
  return range && is_device_memory(range->kind);
}

Contents& contents() {
  static Contents& all = LockedMachine()->contents();  // It has a lock of its own.
  return all;
}

// What the framework in front knows of the values that the calling thread reads now (hbmscope_device_values).
struct KnownValues {
  bool are_in_memory = false, are_certain = false;
  std::optional<std::uint64_t> count;
};
thread_local KnownValues known_values;

// A count that the device would have computed, for a read of its size.
bool give_count(Address to, Bytes bytes) {
  if (!known_values.count || bytes > sizeof *known_values.count) return false;
  std::memcpy(pointer_from(to), &*known_values.count, bytes);
  return true;
}

}  // namespace

bool copy_contents(Address to, Address from, Bytes bytes) {
  if (bytes == 0 || to == from) return false;
  Contents& all = contents();
  const bool is_from_device = is_on_device(from), is_to_device = is_on_device(to);
  if (is_from_device && !is_to_device) {
    if (give_count(to, bytes)) return !known_values.are_certain;
    if (known_values.are_in_memory) {
      std::memmove(pointer_from(to), pointer_from(from), bytes);
      return !known_values.are_certain;
    }
  }
  const bool is_unknown = is_from_device && !all.is_known(from, bytes);
  const auto date = is_from_device ? all.find_date(from, bytes) : all.now();
  if (is_to_device) {
    if (is_unknown) {
      all.forget(to, bytes);
      if (date) all.note_zeros(to, bytes);
      return false;
    }
    if (!all.begin_write(to, bytes, date)) return false;
  } else if (is_unknown) {
    std::memset(pointer_from(to), 0, bytes);
    return !date;
  }
  std::memmove(pointer_from(to), pointer_from(from), bytes);
  return is_from_device && !is_to_device && date != all.now();
}

void fill_contents(Address to, unsigned value, Bytes value_bytes, Bytes count) {
  const Bytes bytes = value_bytes * count;
  if (bytes == 0) return;
  if (is_on_device(to)) {
    contents().forget(to, bytes);
    if (value == 0) contents().note_zeros(to, bytes);
    if (value == 0 || !contents().begin_write(to, bytes)) return;
  }
  switch (value_bytes) {
    case 1: std::memset(pointer_from(to), static_cast<int>(value), count); break;
    case 2: std::fill_n(reinterpret_cast<std::uint16_t*>(to), count, static_cast<std::uint16_t>(value)); break;
    default: std::fill_n(reinterpret_cast<std::uint32_t*>(to), count, value);
  }
}

}  // namespace hbmscope::device::driver

namespace {

std::uint64_t duration_ns(Bytes bytes) {
  return 1000 + static_cast<std::uint64_t>(double(bytes) / copied_bytes_per_ns);
}

Result copy_in_order(Address to, Address from, Size bytes, Object handle) {
  Stream& stream = stream_from(handle);
  if (!is_captured(stream, node_type::memcpy))
    stream.run(
        [=] {
          if (copy_contents(to, from, bytes)) note_value_read(bytes);
        },
        duration_ns(bytes));
  return success;
}

// Waits for the default stream alone: blocking streams are not ordered against it here.
Result copy_and_wait(Address to, Address from, Size bytes) {
  copy_in_order(to, from, bytes, nullptr);
  stream_from(nullptr).wait();
  return success;
}

Result fill_in_order(Address to, unsigned value, Size value_bytes, Size count, Object handle) {
  Stream& stream = stream_from(handle);
  if (!is_captured(stream, node_type::memset))
    stream.run([=] { fill_contents(to, value, value_bytes, count); }, duration_ns(value_bytes * count));
  return success;
}

Address address_from(const void* at) {
  return reinterpret_cast<Address>(at);
}

void copy_rows(const Copy2d& copy) {
  if (copy.source_array != nullptr || copy.target_array != nullptr) return;  // Arrays have no contents here.
  const Address from = copy.source_type == memory_type_host ? address_from(copy.source_host) : copy.source_device;
  const Address to = copy.target_type == memory_type_host ? address_from(copy.target_host) : copy.target_device;
  const Size from_pitch = copy.source_pitch != 0 ? copy.source_pitch : copy.width;
  const Size to_pitch = copy.target_pitch != 0 ? copy.target_pitch : copy.width;
  Size made_up_rows = 0;
  for (Size row = 0; row < copy.height; ++row)
    if (copy_contents(to + (copy.target_y + row) * to_pitch + copy.target_x,
                      from + (copy.source_y + row) * from_pitch + copy.source_x, copy.width))
      ++made_up_rows;
  if (made_up_rows > 0) note_value_read(made_up_rows * copy.width);
}

}  // namespace

// For the framework's values (python/hbmscope_values.py), in the calling thread, until the next call: 1, what it reads
// is what lies in the memory; 2, a read of up to 8 bytes gets `count`; with 4 added, these values are certain,
// otherwise they are assumed, and noted as such. 0: as ever.
HBMSCOPE_EXPORTED void hbmscope_device_values(int how, unsigned long long count) {
  known_values = {(how & 1) != 0, (how & 4) != 0, (how & 2) != 0 ? std::optional<std::uint64_t>(count) : std::nullopt};
}

HBMSCOPE_EXPORTED Result cuMemcpy(Address to, Address from, Size bytes) {
  return copy_and_wait(to, from, bytes);
}
HBMSCOPE_EXPORTED Result cuMemcpyHtoD_v2(Address to, const void* from, Size bytes) {
  return copy_and_wait(to, address_from(from), bytes);
}
HBMSCOPE_EXPORTED Result cuMemcpyDtoH_v2(void* to, Address from, Size bytes) {
  return copy_and_wait(address_from(to), from, bytes);
}
HBMSCOPE_EXPORTED Result cuMemcpyDtoD_v2(Address to, Address from, Size bytes) {
  return copy_and_wait(to, from, bytes);
}
HBMSCOPE_EXPORTED Result cuMemcpyPeer(Address to, Object, Address from, Object, Size bytes) {
  return copy_and_wait(to, from, bytes);
}
HBMSCOPE_EXPORTED Result cuMemcpyAsync(Address to, Address from, Size bytes, Object stream) {
  return copy_in_order(to, from, bytes, stream);
}
HBMSCOPE_EXPORTED Result cuMemcpyHtoDAsync_v2(Address to, const void* from, Size bytes, Object stream) {
  return copy_in_order(to, address_from(from), bytes, stream);
}
HBMSCOPE_EXPORTED Result cuMemcpyDtoHAsync_v2(void* to, Address from, Size bytes, Object stream) {
  return copy_in_order(address_from(to), from, bytes, stream);
}
HBMSCOPE_EXPORTED Result cuMemcpyDtoDAsync_v2(Address to, Address from, Size bytes, Object stream) {
  return copy_in_order(to, from, bytes, stream);
}
HBMSCOPE_EXPORTED Result cuMemcpyPeerAsync(Address to, Object, Address from, Object, Size bytes, Object stream) {
  return copy_in_order(to, from, bytes, stream);
}
HBMSCOPE_EXPORTED Result cuMemcpy2DAsync_v2(const Copy2d* copy, Object handle) {
  Stream& stream = stream_from(handle);
  if (!is_captured(stream, node_type::memcpy))
    stream.run([copy = *copy] { copy_rows(copy); }, duration_ns(copy->width * copy->height));
  return success;
}
HBMSCOPE_EXPORTED Result cuMemcpy2D_v2(const Copy2d* copy) {
  cuMemcpy2DAsync_v2(copy, nullptr);
  stream_from(nullptr).wait();
  return success;
}
HBMSCOPE_EXPORTED Result cuMemcpy2DUnaligned_v2(const Copy2d* copy) {
  return cuMemcpy2D_v2(copy);
}

HBMSCOPE_EXPORTED Result cuMemsetD8Async(Address to, unsigned char value, Size count, Object stream) {
  return fill_in_order(to, value, 1, count, stream);
}
HBMSCOPE_EXPORTED Result cuMemsetD16Async(Address to, unsigned short value, Size count, Object stream) {
  return fill_in_order(to, value, 2, count, stream);
}
HBMSCOPE_EXPORTED Result cuMemsetD32Async(Address to, unsigned value, Size count, Object stream) {
  return fill_in_order(to, value, 4, count, stream);
}
HBMSCOPE_EXPORTED Result cuMemsetD8_v2(Address to, unsigned char value, Size count) {
  return fill_in_order(to, value, 1, count, nullptr);
}
HBMSCOPE_EXPORTED Result cuMemsetD16_v2(Address to, unsigned short value, Size count) {
  return fill_in_order(to, value, 2, count, nullptr);
}
HBMSCOPE_EXPORTED Result cuMemsetD32_v2(Address to, unsigned value, Size count) {
  return fill_in_order(to, value, 4, count, nullptr);
}
HBMSCOPE_EXPORTED Result cuMemsetD2D8Async(Address to, Size pitch, unsigned char value, Size width, Size height,
                                           Object stream) {
  for (Size row = 0; row < height; ++row) fill_in_order(to + row * pitch, value, 1, width, stream);
  return success;
}
