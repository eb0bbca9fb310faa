#include "collector/inject/cupti_rows.h"

#include "collector/inject/cupti_parameters.h"
#include "collector/inject/driver_graphs.h"

namespace hbmscope::inject::cupti {
namespace {

using namespace driver;

constexpr CallbackId ids_max = 1024;

struct Ids {
  CallbackId by_entry[entry_count] = {};
  std::uint16_t entries[ids_max] = {};  // One more than the entry's number; 0: none.
};
constexpr Ids make_ids() {
  Ids ids;
  for (const auto& [entry, id] : std::initializer_list<std::pair<Entry, CallbackId>>{
#define ID(name, number) {Entry::name, number},
#include "collector/inject/cupti_driver_ids.inc"
       }) {
    ids.by_entry[static_cast<std::size_t>(entry)] = id;
    ids.entries[id] = static_cast<std::uint16_t>(static_cast<std::size_t>(entry) + 1);
  }
  return ids;
}
constexpr Ids ids = make_ids();
static_assert(entry_count < 0xffff);

#define TAKES(name, ...) static_assert(ids.by_entry[static_cast<std::size_t>(Entry::name)] != 0);
#define GIVES TAKES
#define REFUSES TAKES
#include "collector/inject/driver_entries.inc"

// An object with the parameters of the call, so that the table's expressions mean the same as in driver_calls.cpp.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define TAKES(name, since, parameters, arguments, asked, ...)   \
  struct Tell_##name {                                          \
    const DriverCall& call;                                     \
    void operator() parameters const { __VA_ARGS__; }           \
  };                                                            \
  struct Asked_##name {                                         \
    std::uint64_t operator() parameters const { return asked; } \
  };
#define GIVES(name, since, parameters, arguments, ...) TAKES(name, since, parameters, arguments, 0, __VA_ARGS__)
#include "collector/inject/driver_entries.inc"
#pragma GCC diagnostic pop

struct Teller {
  void (*tell)(const DriverCall& call, const void* parameters);  // Null: a success is not recorded.
  std::uint64_t (*asked)(const void* parameters);
  bool gives_back;
};

template <class Function, class Tell>
void tell_by(const DriverCall& call, const void* parameters) {
  Parameters<Function>::apply(Tell{call}, parameters);
}
template <class Function, class Asked>
std::uint64_t asked_by(const void* parameters) {
  return Parameters<Function>::apply(Asked{}, parameters);
}

#define TELLER(name, parameters, gives) \
  {tell_by<Result(*) parameters, Tell_##name>, asked_by<Result(*) parameters, Asked_##name>, gives},
#define TAKES(name, since, parameters, ...) TELLER(name, parameters, false)
#define GIVES(name, since, parameters, ...) TELLER(name, parameters, true)
#define REFUSES(name, ...) {nullptr, nullptr, false},
#define RESOLVES REFUSES
constexpr Teller tellers[] = {
#include "collector/inject/driver_entries.inc"
};

const Teller& teller_of(Entry entry) {
  return tellers[static_cast<std::size_t>(entry)];
}

}  // namespace

Entry entry_from_id(CallbackId id) {
  return id < ids_max && ids.entries[id] != 0 ? static_cast<Entry>(ids.entries[id] - 1) : Entry::count;
}

CallbackId id_of(Entry entry) {
  return ids.by_entry[static_cast<std::size_t>(entry)];
}

bool gives_back(Entry entry) {
  return teller_of(entry).gives_back;
}

void tell(const DriverCall& call, const void* parameters) {
  if (const auto tell_of_it = teller_of(call.entry).tell) tell_of_it(call, parameters);
}

std::uint64_t asked_bytes(Entry entry, const void* parameters) {
  const auto asked_of_it = teller_of(entry).asked;
  return asked_of_it != nullptr ? asked_of_it(parameters) : 0;
}

}  // namespace hbmscope::inject::cupti
