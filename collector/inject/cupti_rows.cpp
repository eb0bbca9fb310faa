#include "collector/inject/cupti_rows.h"

#include "collector/inject/cupti_parameters.h"
#include "collector/inject/driver_graphs.h"
#include "collector/inject/driver_pools.h"

namespace hbmscope::inject::cupti {
namespace {

using namespace driver;

constexpr CallbackId ids_max = 1024;

struct Ids {
  CallbackId by_entry[entry_count] = {};
  std::uint16_t entries[ids_max] = {};  // One more than the entry's number, or 0.
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

#define ALLOCATES(name, ...) static_assert(ids.by_entry[static_cast<std::size_t>(Entry::name)] != 0);
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#include "collector/inject/driver_entries.inc"

// An object with the parameters of the call, so that the table's expressions mean the same as in driver_calls.cpp.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define ALLOCATES(name, since, parameters, arguments, requested, ...) \
  struct Report_##name {                                              \
    const DriverCall& call;                                           \
    void operator() parameters const { __VA_ARGS__; }                 \
  };                                                                  \
  struct Requested_##name {                                           \
    RefusedRequest operator() parameters const { return requested; }  \
  };
#define FREES(name, since, parameters, arguments, ...) ALLOCATES(name, since, parameters, arguments, 0, __VA_ARGS__)
#include "collector/inject/driver_entries.inc"
#pragma GCC diagnostic pop

struct Teller {
  void (*report)(const DriverCall& call, const void* parameters);  // Null: a success is not recorded.
  RefusedRequest (*requested)(const void* parameters);
  bool frees_memory, is_left_to_us;
};

template <class Function, class Report>
void report_by(const DriverCall& call, const void* parameters) {
  Parameters<Function>::apply(Report{call}, parameters);
}
template <class Function, class Requested>
RefusedRequest requested_by(const void* parameters) {
  return Parameters<Function>::apply(Requested{}, parameters);
}

#define TELLER(name, parameters, gives) \
  {report_by<Result(*) parameters, Report_##name>, requested_by<Result(*) parameters, Requested_##name>, gives, false},
#define ALLOCATES(name, since, parameters, ...) TELLER(name, parameters, false)
#define FREES(name, since, parameters, ...) TELLER(name, parameters, true)
#define REFUSES(name, ...) {nullptr, nullptr, false, false},
#define RUNS(name, ...) {nullptr, nullptr, false, true},
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

bool frees_memory(Entry entry) {
  return teller_of(entry).frees_memory;
}

bool is_left_to_us(Entry entry) {
  return teller_of(entry).is_left_to_us;
}

void report(const DriverCall& call, const void* parameters) {
  if (const auto report_this = teller_of(call.entry).report) report_this(call, parameters);
}

RefusedRequest requested_by_call(Entry entry, const void* parameters) {
  const auto requested_of_this = teller_of(entry).requested;
  return requested_of_this != nullptr ? requested_of_this(parameters) : 0;
}

}  // namespace hbmscope::inject::cupti
