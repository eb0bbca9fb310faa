#include "allocator/emulated/tpu/plugin/program_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hbmscope::allocator::tpu::plugin {

namespace fs = std::filesystem;

std::string ProgramCache::key_from(std::initializer_list<std::string_view> parts) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const std::string_view part : parts) {
    const std::uint64_t size = part.size();  // So that no two lists of parts look alike.
    XXH3_128bits_update(&state, &size, sizeof(size));
    XXH3_128bits_update(&state, part.data(), part.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

std::shared_ptr<const CompiledProgram> ProgramCache::find(const std::string& key) const {
  if (folder_.empty()) return nullptr;
  std::ifstream file(path_of(key), std::ios::binary);
  if (!file) return nullptr;
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  return program_from_bytes(bytes);
}

void ProgramCache::keep(const std::string& key, const CompiledProgram& program) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  static std::atomic<unsigned> number = 0;
  const std::string path = path_of(key);
  const std::string written = path + "." + std::to_string(getpid()) + "." + std::to_string(number++);
  {
    std::ofstream file(written, std::ios::binary);
    const std::string bytes = bytes_from_program(program);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
      fs::remove(written, error);
      return;
    }
  }
  fs::rename(written, path, error);
}

}  // namespace hbmscope::allocator::tpu::plugin
