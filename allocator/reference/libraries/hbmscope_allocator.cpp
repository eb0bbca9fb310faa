#include "allocator/reference/libraries/hbmscope_allocator.h"

#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "allocator/reference/catalog/setup.h"

namespace hbmscope::allocator {
namespace {

// An upstream that calls the program's functions.
class CalledUpstream final : public Upstream {
 public:
  explicit CalledUpstream(const hbmscope_upstream& functions) : functions_(functions) {}

  std::optional<Claim> claim(std::uint64_t bytes) override {
    Claim claim;
    if (functions_.claim(functions_.context, bytes, &claim.base, &claim.bytes) != 1 || claim.bytes < bytes) return {};
    return claim;
  }
  void release(const Claim& claim) override { functions_.release(functions_.context, claim.base, claim.bytes); }

 private:
  hbmscope_upstream functions_;
};

std::string_view text_or_empty(const char* text) {
  return text == nullptr ? std::string_view() : text;
}

}  // namespace
}  // namespace hbmscope::allocator

struct hbmscope_allocator {
  std::mutex mutex;
  std::unique_ptr<hbmscope::allocator::Upstream> upstream;
  std::unique_ptr<hbmscope::allocator::Allocator> allocator;  // Destroyed before its upstream.
  hbmscope::allocator::Certainty certainty{};
};

namespace hbmscope::allocator {
namespace {

tl::expected<std::unique_ptr<hbmscope_allocator>, std::string> create(const hbmscope_allocator_options& options) {
  if (options.struct_size != sizeof(options))
    return tl::unexpected<std::string>("the options are of another version of hbmscope_allocator.h");
  std::vector<Setting> settings;
  for (std::size_t i = 0; i < options.setting_count; ++i) {
    const std::string_view text = text_or_empty(options.settings[i]);
    const std::size_t equals = text.find('=');
    if (equals == text.npos) return tl::unexpected("'" + std::string(text) + "' is not NAME=VALUE");
    settings.push_back({std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
  }
  const auto setup =
      set_up({text_or_empty(options.allocator), text_or_empty(options.version), settings, options.device_bytes});
  if (!setup) return tl::unexpected(setup.error());
  auto made = std::make_unique<hbmscope_allocator>();
  if (options.upstream == nullptr) {
    made->upstream = std::make_unique<VirtualAddresses>(setup->upstream);
  } else {
    const auto reserving = row_of(setup->options).reserving;
    if (const std::string_view who = reserving != nullptr ? reserving(setup->options) : ""; !who.empty())
      return tl::unexpected(std::string(who) + " reserved addresses, which an upstream here has not");
    if (options.upstream->claim == nullptr || options.upstream->release == nullptr)
      return tl::unexpected<std::string>("the upstream lacks a function");
    made->upstream = std::make_unique<CalledUpstream>(*options.upstream);
  }
  made->allocator = make_allocator(setup->options, *made->upstream);
  made->certainty = certainty_of(setup->options);
  return made;
}

void write_error(const char* why, char* error, std::size_t error_bytes) {
  if (error == nullptr || error_bytes == 0) return;
  const std::size_t length = std::min(std::strlen(why), error_bytes - 1);
  std::memcpy(error, why, length);
  error[length] = 0;
}

}  // namespace
}  // namespace hbmscope::allocator

using namespace hbmscope::allocator;

extern "C" {

hbmscope_allocator* hbmscope_allocator_create(const hbmscope_allocator_options* options, char* error,
                                              size_t error_bytes) noexcept try {
  if (options == nullptr) {
    write_error("there are no options", error, error_bytes);
    return nullptr;
  }
  auto made = create(*options);
  if (made) return made->release();
  write_error(made.error().c_str(), error, error_bytes);
  return nullptr;
} catch (const std::exception&) {
  write_error("there is not enough memory on the host", error, error_bytes);
  return nullptr;
}

void hbmscope_allocator_destroy(hbmscope_allocator* allocator) noexcept {
  delete allocator;
}

const char* hbmscope_allocator_certainty(const hbmscope_allocator* allocator) noexcept {
  return text_from_certainty(allocator->certainty).data();
}

int hbmscope_allocator_allocate(hbmscope_allocator* allocator, const hbmscope_request* request, uint64_t* address,
                                uint64_t* block_bytes) noexcept try {
  const std::scoped_lock lock(allocator->mutex);
  Request requested;
  requested.bytes = request->bytes;
  requested.alignment = request->alignment == 0 ? 1 : request->alignment;
  requested.stream = request->stream;
  requested.space = request->is_collective != 0 ? Space::collective : Space::default_memory;
  const Allocation answer = allocator->allocator->allocate(requested);
  if (answer.outcome == Outcome::allocated) {
    *address = answer.address;
    *block_bytes = answer.bytes;
  }
  static_assert(static_cast<int>(Outcome::allocated) == HBMSCOPE_ALLOCATED &&
                static_cast<int>(Outcome::zero_bytes) == HBMSCOPE_ZERO_BYTES &&
                static_cast<int>(Outcome::out_of_memory) == HBMSCOPE_OUT_OF_MEMORY &&
                static_cast<int>(Outcome::fault) == HBMSCOPE_FAULT);
  return static_cast<int>(answer.outcome);
} catch (const std::exception&) {
  return HBMSCOPE_OUT_OF_MEMORY;
}

int hbmscope_allocator_free(hbmscope_allocator* allocator, uint64_t address) noexcept try {
  const std::scoped_lock lock(allocator->mutex);
  return allocator->allocator->free(address) == FreeOutcome::freed ? 1 : 0;
} catch (const std::exception&) {
  return 0;
}

void hbmscope_allocator_statistics(hbmscope_allocator* allocator, hbmscope_statistics* statistics) noexcept {
  const std::scoped_lock lock(allocator->mutex);
  const Statistics now = allocator->allocator->statistics();
  *statistics = {now.allocations,     now.in_use_bytes, now.peak_in_use_bytes, now.pool_bytes,
                 now.peak_pool_bytes, now.limit_bytes,  now.largest_free_bytes};
}

size_t hbmscope_allocator_blocks(hbmscope_allocator* allocator, hbmscope_pool_block* pieces, size_t capacity) noexcept
    try {
  const std::scoped_lock lock(allocator->mutex);
  const std::vector<PoolBlock> all = allocator->allocator->pool_blocks();
  for (std::size_t i = 0; i < std::min(capacity, all.size()); ++i)
    pieces[i] = {all[i].address, all[i].bytes, all[i].requested_bytes};
  return all.size();
} catch (const std::exception&) {
  return 0;
}

}  // extern "C"
