#include "allocator/emulated/cuda/model/settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hbmscope::device {
namespace {

void read_number(const char* name, std::uint64_t& out) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 0);
  if (*end != 0 || *text == '-')
    std::fprintf(stderr, "hbmscope: %s=%s is not a number; using %llu\n", name, text,
                 static_cast<unsigned long long>(out));
  else
    out = value;
}

void read_number(const char* name, int& out) {
  std::uint64_t value = static_cast<std::uint64_t>(out);
  read_number(name, value);
  out = static_cast<int>(value);
}

// The physical device that one entry of CUDA_VISIBLE_DEVICES names: an ordinal, or the beginning of a UUID. -1: none.
int device_from_entry(const std::string& entry, const std::vector<int>& in_order, bool are_slices) {
  if (entry.rfind("GPU-", 0) == 0 || entry.rfind("MIG-", 0) == 0) {
    int found = -1;
    for (const int device : in_order) {
      if (text_from_uuid(uuid_of_device(device), are_slices).rfind(entry, 0) != 0) continue;
      if (found >= 0) return -1;  // A beginning that two devices have names neither.
      found = device;
    }
    return found;
  }
  char* end = nullptr;
  const long device = std::strtol(entry.c_str(), &end, 10);
  const bool is_one = end != entry.c_str() && *end == 0 && device >= 0 && device < static_cast<long>(in_order.size());
  return is_one ? in_order[static_cast<std::size_t>(device)] : -1;
}

// CUDA's default order begins with the fastest device; NVML's order is always that of the PCI bus.
std::vector<int> read_order(const Settings& settings) {
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  const bool is_by_bus = order != nullptr && std::strcmp(order, "PCI_BUS_ID") == 0;
  std::vector<int> devices;
  for (int device = 0; device < settings.device_count; ++device) devices.push_back(device);
  const auto first = std::find(devices.begin(), devices.end(), settings.fastest_device);
  if (!is_by_bus && first != devices.end()) std::rotate(devices.begin(), first, first + 1);
  return devices;
}

std::vector<int> read_visible_devices(const Settings& settings) {
  const std::vector<int> in_order = read_order(settings);
  std::vector<int> visible;
  const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (text == nullptr) return in_order;
  const std::string list = text;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = list.find(',', begin);
    const int device = device_from_entry(list.substr(begin, end - begin), in_order, settings.are_slices);
    if (device < 0) break;
    visible.push_back(device);
    begin = end == std::string::npos ? list.size() : end + 1;
  }
  return visible;
}

}  // namespace

Settings read_settings(const Settings& defaults) {
  Settings settings = defaults;
  read_number("HBMSCOPE_DEVICE_COUNT", settings.device_count);
  settings.device_count = settings.device_count > device_count_max ? device_count_max : settings.device_count;
  read_number("HBMSCOPE_DEVICE_BYTES", settings.total_bytes);
  read_number("HBMSCOPE_DEVICE_CONTEXT_BYTES", settings.context_bytes);
  read_number("HBMSCOPE_DEVICE_GRANULARITY", settings.granularity);
  if (settings.granularity == 0 || (settings.granularity & (settings.granularity - 1)) != 0) {
    std::fprintf(stderr, "hbmscope: HBMSCOPE_DEVICE_GRANULARITY is not a power of two; using %llu\n",
                 static_cast<unsigned long long>(defaults.granularity));
    settings.granularity = defaults.granularity;
  }
  read_number("HBMSCOPE_DEVICE_HOST_BYTES", settings.host_bytes_max);
  read_number("HBMSCOPE_DEVICE_SMS", settings.multiprocessors);
  read_number("HBMSCOPE_DEVICE_CUDA", settings.cuda_version);
  read_number("HBMSCOPE_DEVICE_CUDNN", settings.cudnn_version);
  read_number("HBMSCOPE_DEVICE_LOG", settings.log_level);
  if (const char* name = std::getenv("HBMSCOPE_DEVICE_NAME"); name != nullptr && *name != 0) settings.name = name;
  if (const char* compute = std::getenv("HBMSCOPE_DEVICE_COMPUTE"); compute != nullptr && *compute != 0) {
    int major = 0, minor = 0;
    if (std::sscanf(compute, "%d.%d", &major, &minor) == 2) {
      settings.compute_major = major;
      settings.compute_minor = minor;
    } else {
      std::fprintf(stderr, "hbmscope: HBMSCOPE_DEVICE_COMPUTE=%s is not of the form 9.0; using 9.0\n", compute);
    }
  }
  if (const char* folder = std::getenv("HBMSCOPE_DEVICE_REPORT"); folder != nullptr) settings.report_folder = folder;
  read_number("HBMSCOPE_DEVICE_FASTEST", settings.fastest_device);
  int are_slices = 0;
  read_number("HBMSCOPE_DEVICE_MIG", are_slices);
  settings.are_slices = are_slices != 0;
  settings.visible_devices = read_visible_devices(settings);
  return settings;
}

namespace {

// Never destroyed: other threads outlive main.
Settings& default_settings() {
  static Settings* defaults = new Settings;
  return *defaults;
}

}  // namespace

const Settings& settings() {
  static const Settings* read = new Settings(read_settings(default_settings()));
  return *read;
}

void set_default_settings(const Settings& defaults) {
  default_settings() = defaults;
}

Uuid uuid_of_device(int ordinal) {
  Uuid uuid{};
  std::memcpy(uuid.bytes, "hbmscope", 8);
  uuid.bytes[3] = static_cast<unsigned char>(ordinal);
  return uuid;
}

Uuid uuid_of_gpu(int ordinal, const Settings& settings) {
  Uuid uuid = uuid_of_device(ordinal);
  if (settings.are_slices) uuid.bytes[3] = 0xff;
  return uuid;
}

std::string text_from_uuid(const Uuid& uuid) {
  return text_from_uuid(uuid, false);
}

std::string text_from_uuid(const Uuid& uuid, bool is_slice) {
  std::string text = is_slice ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", unsigned{uuid.bytes[i]});
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

}  // namespace hbmscope::device
