#include "collector/inject/process_facts.h"

#include <errno.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>

#include "collector/inject/environment.h"
#include "collector/inject/file_text.h"
#include "collector/inject/line.h"
#include "collector/inject/rings.h"
#include "collector/inject/sandbox.h"
#include "collector/wire/masked_arguments.h"
#include "collector/wire/reported_names.h"
#include "collector/wire/reported_variables.h"

namespace hbmscope::inject {
namespace {

void report_command() {
  FileText arguments("/proc/self/cmdline");
  char* end = arguments.end();
  while (end != arguments.begin() && end[-1] == 0) --end;
  char* const last = wire::mask_arguments(arguments.begin(), end);
  if (last < end) *last = 0;
  end = last;
  for (char* at = arguments.begin(); at != end; ++at)
    if (*at == 0) *at = ' ';
  if (end != arguments.begin()) rings.define_job_fact(wire::command_fact.data(), arguments.begin());
}

constexpr std::size_t count = std::size(wire::reported_variables);

// One value of each variable, or null if it is not set.
struct Values {
  const char* of[count] = {};
  const char* rank = nullptr;

  void take(char* begin, char* end) {
    wire::find_reported_variables(
        begin, end,
        [this](const wire::ReportedVariable& variable, const char* value) {
          const char*& mine = of[&variable - wire::reported_variables];
          if (mine == nullptr) mine = value;  // As getenv() does.
        },
        [this](const char* digits) { rank = digits; });
  }
};

// What a framework has read, cut off: long values are compared by how they begin.
struct Kept {
  static constexpr std::size_t bytes_max = 1024;
  char value[bytes_max] = "";
  bool is_set = false;

  bool is(const char* other) const {
    return is_set == (other != nullptr) && (!is_set || std::strncmp(value, other, bytes_max - 1) == 0);
  }
  void keep(const char* other) {
    is_set = other != nullptr;
    std::size_t length = 0;  // Not strncpy(): a thread sanitizer in the job sees its calls, but not our lock.
    for (; is_set && length < bytes_max - 1 && other[length] != 0; ++length) value[length] = other[length];
    value[length] = 0;
  }
};
struct Variable {
  bool is_read = false;
  Kept in_force, last;  // `last` is read only since the rings were opened.
};
Variable variables[count];
SpinLock lock;

void report(std::string_view prefix, std::size_t i, const char* value) {
  rings.define_job_fact(Line().add(prefix.data()).add(wire::reported_variables[i].name).text,
                        value != nullptr ? value : wire::variable_not_set.data());
}

void report_late(const Values& values) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!variables[i].is_read || variables[i].last.is(values.of[i])) continue;
    report(wire::late_variable_facts, i, values.of[i]);
    variables[i].last.keep(values.of[i]);
  }
}

// Variables that nobody has read yet, or that several read, may still take effect.
void report_changes(const Values& values) {
  for (std::size_t i = 0; i < count; ++i) {
    if (variables[i].is_read || variables[i].last.is(values.of[i])) continue;
    report(wire::variable_facts, i, values.of[i]);
    variables[i].last.keep(values.of[i]);
  }
}

void begin_reporting(const Values& values) {
  if (values.rank != nullptr) rings.define_job_fact(wire::rank_fact.data(), values.rank);
  for (std::size_t i = 0; i < count; ++i) {
    Variable& variable = variables[i];
    const char* value = !variable.is_read ? values.of[i] : variable.in_force.is_set ? variable.in_force.value : nullptr;
    if (value != nullptr) report(wire::variable_facts, i, value);
    variable.last.keep(value);
  }
  report_late(values);
}

// With no readers it doesn't wait for the lock: a signal's handler that calls exit() may have interrupted its owner.
bool enter(unsigned readers) {
  if (readers == 0) return lock.try_lock();
  lock.lock();
  return true;
}

}  // namespace

void report_process_facts() {
  report_command();
  Environment now;
  FileText at_start(now.is_read() ? "/dev/null" : "/proc/self/environ");
  Values values;
  if (now.is_read())
    values.take(now.begin(), now.end());
  else
    values.take(at_start.begin(), at_start.end());
  lock.lock();
  begin_reporting(values);
  lock.unlock();
}

void note_variables(unsigned readers) {
  const int errno_of_job = errno;
  look_for_sandbox();
  Environment now;
  if (now.is_read() && enter(readers)) {
    Values values;
    values.take(now.begin(), now.end());
    if (rings.is_open()) report_changes(values);
    for (std::size_t i = 0; i < count; ++i) {
      Variable& variable = variables[i];
      if (variable.is_read || (readers & static_cast<unsigned>(wire::reported_variables[i].reader)) == 0) continue;
      variable.is_read = true;
      variable.in_force.keep(values.of[i]);
    }
    if (rings.is_open()) report_late(values);
    lock.unlock();
  }
  errno = errno_of_job;
}

void forget_process_facts_lock() {
  lock.unlock();
}

}  // namespace hbmscope::inject
