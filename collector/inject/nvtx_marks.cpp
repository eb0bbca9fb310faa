#include "collector/inject/nvtx_marks.h"

#include <atomic>
#include <cstring>

#include "collector/inject/driver_rows.h"
#include "collector/inject/rings.h"
#include "collector/inject/utf8.h"

namespace hbmscope::inject::nvtx {

struct Name {
  std::atomic<std::uint32_t> hash;  // 0: there is no name here yet.
  std::atomic<std::uint32_t> id;    // Its id in the rings, or 0 before it is defined.
  char text[120];
};

namespace {

constexpr std::uint32_t names_max = 8192, domains_max = 256;
constexpr unsigned depth_max = 61;

// Only written pages need memory.
Name names[names_max];
Name another{1, 0, "another NVTX range"};  // Used when there is no more room.
std::uint32_t names_kept = 0;
Domain domains[domains_max];
std::uint32_t domains_kept = 0;
SpinLock keeping;

std::uint32_t hash_of(const char* text) {
  std::uint32_t hash = 2166136261U;
  for (; *text != 0; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619U;
  return hash == 0 ? 1 : hash;
}

Name* find(const char* text, std::uint32_t hash, std::uint32_t& place) {
  for (place = hash % names_max;; place = (place + 1) % names_max) {
    const std::uint32_t there = names[place].hash.load(std::memory_order_acquire);
    if (there == 0) return nullptr;
    if (there == hash && std::strcmp(names[place].text, text) == 0) return &names[place];
  }
}

const Name* keep(const char* text) {
  const std::uint32_t hash = hash_of(text);
  std::uint32_t place = 0;
  if (const Name* known = find(text, hash, place)) return known;
  keeping.lock();
  Name* name = find(text, hash, place);
  if (name == nullptr && names_kept < names_max / 4 * 3) {
    name = &names[place];
    ++names_kept;
    std::strcpy(name->text, text);
    name->hash.store(hash, std::memory_order_release);
  }
  keeping.unlock();
  return name != nullptr ? name : &another;
}

void report(const Name* name, std::uint8_t phase) {
  if (!is_observed()) return;
  auto& id = const_cast<Name*>(name)->id;
  wire::MarkerRecord record;
  record.name = id.load(std::memory_order_relaxed);
  if (record.name == 0) id.store(record.name = rings.define_string(name->text), std::memory_order_relaxed);
  record.device = wire::no_device;
  record.phase = phase;
  rings.add_of_driver(record);
}
constexpr std::uint8_t instant = 0, begins = 1, ends = 2;

// The ranges that a thread has pushed. They belong to the thread's slot; a thread without a slot is not tracked.
struct Pushed {
  std::uint64_t thread;
  unsigned depth, unreported;  // Deeper levels are only counted.
  struct {
    const Name* name;
    const Domain* domain;
  } ranges[depth_max];
};
Pushed pushed_of_slots[wire::rings_wanted];

Pushed* pushed_of_thread() {
  std::uint64_t thread = 0;
  const std::uint32_t slot = is_observed() ? rings.own_slot(thread) : wire::rings_wanted;
  if (slot >= wire::rings_wanted) return nullptr;
  Pushed& pushed = pushed_of_slots[slot];
  if (pushed.thread != thread) {
    pushed.thread = thread;
    pushed.depth = pushed.unreported = 0;
  }
  return &pushed;
}

int level_in(const Pushed& pushed, const Domain* domain) {
  int level = 0;
  for (unsigned i = 0; i < pushed.depth; ++i)
    if (pushed.ranges[i].domain == domain) ++level;
  return level;
}

}  // namespace

const Name* name_of(const Domain* domain, const char* text) {
  char whole[sizeof(Name::text)] = "";
  if (domain != nullptr && domain->name[0] != 0) {
    std::strcat(whole, domain->name);
    std::strcat(whole, ": ");
  }
  std::strncat(whole, text != nullptr ? text : "?", sizeof(whole) - std::strlen(whole) - 1);
  return keep(whole);
}

const Name* name_of(const Domain* domain, const wchar_t* text) {
  char narrow[sizeof(Name::text)] = "";
  std::size_t length = 0;
  for (; text != nullptr && *text != 0 && length + utf8_bytes_max < sizeof(narrow); ++text)
    length += put_utf8(static_cast<std::uint32_t>(*text), narrow + length);
  return name_of(domain, narrow);
}

Domain* make_domain(const char* name) {
  // XLA and TensorFlow mark every operation as soon as they get a domain of this name.
  if (name == nullptr || std::strcmp(name, "TSL") == 0) return nullptr;
  keeping.lock();
  Domain* domain = nullptr;
  for (std::uint32_t i = 0; i < domains_kept && domain == nullptr; ++i)
    if (std::strncmp(domains[i].name, name, sizeof(Domain::name) - 1) == 0) domain = &domains[i];
  if (domain == nullptr && domains_kept < domains_max) {
    domain = &domains[domains_kept++];
    std::strncpy(domain->name, name, sizeof(Domain::name) - 1);
  }
  keeping.unlock();
  return domain;
}

Domain* make_domain(const wchar_t* name) {
  char narrow[sizeof(Domain::name)] = "";
  for (std::size_t i = 0; name != nullptr && name[i] != 0 && i + 1 < sizeof(narrow); ++i)
    narrow[i] = name[i] > 0 && name[i] < 0x80 ? static_cast<char>(name[i]) : '?';
  return make_domain(narrow);
}

void mark(const Name* name) {
  report(name, instant);
}

std::uint64_t start(const Name* name) {
  report(name, begins);
  return reinterpret_cast<std::uint64_t>(name);
}

void end(std::uint64_t range) {
  const auto* name = reinterpret_cast<const Name*>(range);
  if (name == &another || (name >= names && name < names + names_max)) end(name);
}

void end(const Name* name) {
  report(name, ends);
}

int push(const Domain* domain, const Name* name) {
  Pushed* pushed = pushed_of_thread();
  if (pushed == nullptr) return is_not_tracked;
  if (pushed->depth == depth_max) {
    ++pushed->unreported;
    return is_not_tracked;
  }
  const int level = level_in(*pushed, domain);
  pushed->ranges[pushed->depth++] = {name, domain};
  report(name, begins);
  return level;
}

int pop(const Domain* domain) {
  Pushed* pushed = pushed_of_thread();
  if (pushed == nullptr) return is_not_tracked;
  if (pushed->unreported > 0) {
    --pushed->unreported;
    return is_not_tracked;
  }
  for (unsigned i = pushed->depth; i-- > 0;) {
    if (pushed->ranges[i].domain != domain) continue;
    report(pushed->ranges[i].name, ends);
    --pushed->depth;
    for (; i < pushed->depth; ++i) pushed->ranges[i] = pushed->ranges[i + 1];
    return level_in(*pushed, domain);
  }
  return is_not_tracked;  // It was pushed before we were loaded.
}

void forget_lock() {
  keeping.unlock();
}

void forget_ids() {
  another.id.store(0, std::memory_order_relaxed);
  if (names_kept == 0) return;  // Otherwise each would be written to.
  for (Name& name : names)
    if (name.hash.load(std::memory_order_relaxed) != 0) name.id.store(0, std::memory_order_relaxed);
}

}  // namespace hbmscope::inject::nvtx
