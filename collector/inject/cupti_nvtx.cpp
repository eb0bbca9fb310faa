#include "collector/inject/cupti_nvtx.h"

#include <atomic>
#include <cstring>

#include "collector/abi/nvtx.h"
#include "collector/inject/nvtx_marks.h"

namespace hbmscope::inject::cupti {
namespace {

using nvtx::EventAttributes;
using nvtx::MessageType;
using nvtx::Name;

// The meaning of CUPTI's handles, as far as there is room; a handle that is not found has no name.
template <std::size_t size>
class Meanings {
 public:
  void keep(std::uint64_t handle, const void* meaning) {
    for (std::size_t i = 0; handle != 0 && i < probes; ++i) {
      Entry& entry = entries_[(mix(handle) + i) % size];
      std::uint64_t nothing = 0;
      if (!entry.handle.compare_exchange_strong(nothing, handle) && nothing != handle) continue;
      entry.meaning.store(meaning, std::memory_order_release);
      return;
    }
  }
  const void* find(std::uint64_t handle) {
    const Entry* entry = look_up(handle);
    return entry != nullptr ? entry->meaning.load(std::memory_order_acquire) : nullptr;
  }
  const void* take(std::uint64_t handle) {
    Entry* entry = look_up(handle);
    if (entry == nullptr) return nullptr;
    const void* meaning = entry->meaning.exchange(nullptr);
    entry->handle.store(0, std::memory_order_release);
    return meaning;
  }

 private:
  static constexpr std::size_t probes = 32;
  struct Entry {
    std::atomic<std::uint64_t> handle;
    std::atomic<const void*> meaning;
  };
  static std::size_t mix(std::uint64_t handle) { return handle * 0x9e3779b97f4a7c15 >> 40; }
  Entry* look_up(std::uint64_t handle) {
    for (std::size_t i = 0; handle != 0 && i < probes; ++i) {
      Entry& entry = entries_[(mix(handle) + i) % size];
      if (entry.handle.load(std::memory_order_acquire) == handle) return &entry;
    }
    return nullptr;
  }
  Entry entries_[size];
};
Meanings<512> domains;
Meanings<4096> texts;
Meanings<1024> ranges;                // Ranges that have begun.
const nvtx::Domain not_reported{""};  // XLA's own domain (nvtx::make_domain), which CUPTI has already created.

template <class Value>
Value read(const void* from, std::size_t offset = 0) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof(value));
  return value;
}

const nvtx::Domain* domain_of(std::uint64_t handle) {
  return static_cast<const nvtx::Domain*>(domains.find(handle));
}

const Name* name_of(const nvtx::Domain* domain, const EventAttributes* event) {
  if (event != nullptr && event->message_type == MessageType::ascii) return nvtx::name_of(domain, event->message.ascii);
  if (event != nullptr && event->message_type == MessageType::wide) return nvtx::name_of(domain, event->message.wide);
  if (event != nullptr && event->message_type == MessageType::registered)
    if (const void* known = texts.find(reinterpret_cast<std::uint64_t>(event->message.registered)))
      return static_cast<const Name*>(known);
  return nvtx::name_of(domain, "?");
}

enum class What : unsigned char { nothing, mark, start, end, push, pop, text, domain };
enum class Text : unsigned char { none, narrow, wide, attributes };
struct Call {
  What what;
  Text text;
  bool has_domain;  // As its first parameter.
};
// By CUPTI's numbers (cupti_nvtx_cbid.h).
struct Calls {
  Call by_id[nvtx_ids_last + 1] = {};
};
constexpr Calls make_calls() {
  constexpr Text texts_in_order[] = {Text::narrow, Text::wide, Text::attributes};
  Calls made;
  for (unsigned i = 0; i < 3; ++i) {
    made.by_id[1 + i] = {What::mark, texts_in_order[i], false};
    made.by_id[4 + i] = {What::start, texts_in_order[i], false};
    made.by_id[8 + i] = {What::push, texts_in_order[i], false};
  }
  made.by_id[7] = {What::end, Text::none, false};
  made.by_id[11] = {What::pop, Text::none, false};
  made.by_id[30] = {What::mark, Text::attributes, true};
  made.by_id[31] = {What::start, Text::attributes, true};
  made.by_id[32] = {What::end, Text::none, true};
  made.by_id[33] = {What::push, Text::attributes, true};
  made.by_id[34] = {What::pop, Text::none, true};
  made.by_id[39] = {What::text, Text::narrow, true};
  made.by_id[40] = {What::text, Text::wide, true};
  made.by_id[41] = {What::domain, Text::narrow, false};
  made.by_id[42] = {What::domain, Text::wide, false};
  return made;
}
constexpr Calls calls = make_calls();

const Name* name_in(const Call& call, const nvtx::Domain* domain, const void* parameters) {
  const void* text = read<const void*>(parameters, call.has_domain ? sizeof(void*) : 0);
  if (call.text == Text::narrow) return nvtx::name_of(domain, static_cast<const char*>(text));
  if (call.text == Text::wide) return nvtx::name_of(domain, static_cast<const wchar_t*>(text));
  return name_of(domain, static_cast<const EventAttributes*>(text));
}

void keep_domain(const Call& call, const void* parameters, std::uint64_t handle) {
  const void* name = read<const void*>(parameters);
  const nvtx::Domain* made = call.text == Text::wide ? nvtx::make_domain(static_cast<const wchar_t*>(name))
                                                     : nvtx::make_domain(static_cast<const char*>(name));
  domains.keep(handle, made != nullptr ? made : &not_reported);
}

}  // namespace

bool is_nvtx_reported(CallbackId id) {
  return id <= nvtx_ids_last && calls.by_id[id].what != What::nothing;
}

void report_nvtx(CallbackId id, const NvtxData& data) {
  if (!is_nvtx_reported(id)) return;
  const Call& call = calls.by_id[id];
  const auto result = [&] { return data.result != nullptr ? read<std::uint64_t>(data.result) : 0; };
  const nvtx::Domain* domain = call.has_domain ? domain_of(read<std::uint64_t>(data.parameters)) : nullptr;
  if (domain == &not_reported) return;
  switch (call.what) {
    case What::mark: nvtx::mark(name_in(call, domain, data.parameters)); break;
    case What::push: nvtx::push(domain, name_in(call, domain, data.parameters)); break;
    case What::pop: nvtx::pop(domain); break;
    case What::start: {
      const Name* name = name_in(call, domain, data.parameters);
      nvtx::start(name);
      ranges.keep(result(), name);
      break;
    }
    case What::end: {
      const auto range = read<std::uint64_t>(data.parameters, call.has_domain ? sizeof(void*) : 0);
      if (const void* name = ranges.take(range)) nvtx::end(static_cast<const Name*>(name));
      break;
    }
    case What::text: texts.keep(result(), name_in(call, domain, data.parameters)); break;
    case What::domain: keep_domain(call, data.parameters, result()); break;
    case What::nothing: break;
  }
}

}  // namespace hbmscope::inject::cupti
