// The functions that a program's NVTX calls if the environment names this library. `hbmscope run` sets that variable if
// no other library was named.
#include "collector/inject/collector.h"
#include "collector/inject/nvtx_marks.h"

namespace hbmscope::inject::nvtx {

static const Name* name_of(const Domain* domain, const EventAttributes* event) {
  if (event == nullptr) return name_of(domain, "?");
  switch (event->message_type) {
    case MessageType::ascii: return name_of(domain, event->message.ascii);
    case MessageType::wide: return name_of(domain, event->message.wide);
    case MessageType::registered:
      if (event->message.registered != nullptr) return static_cast<const Name*>(event->message.registered);
      break;
    case MessageType::none: break;
  }
  return name_of(domain, "?");
}

namespace {

using Range = std::uint64_t;  // nvtxRangeId_t

template <class Text>
void mark(const Text* text) {
  nvtx::mark(name_of(nullptr, text));
}
template <class Text>
Range start(const Text* text) {
  return nvtx::start(name_of(nullptr, text));
}
template <class Text>
int push(const Text* text) {
  return nvtx::push(nullptr, name_of(nullptr, text));
}
int pop() {
  return nvtx::pop(nullptr);
}
void mark_in(const Domain* domain, const EventAttributes* event) {
  nvtx::mark(name_of(domain, event));
}
Range start_in(const Domain* domain, const EventAttributes* event) {
  return nvtx::start(name_of(domain, event));
}
void end(Range range) {
  nvtx::end(range);
}
template <class Text>
Domain* create(const Text* name) {
  return make_domain(name);
}
void end_in(const Domain*, Range range) {
  nvtx::end(range);
}
int push_in(const Domain* domain, const EventAttributes* event) {
  return nvtx::push(domain, name_of(domain, event));
}
template <class Text>
const Name* register_text(const Domain* domain, const Text* text) {
  return name_of(domain, text);
}
class Table {
 public:
  Table(const Callbacks& callbacks, Module module) {
    if (callbacks.get_table(module, &slots_, &size_) == 0) size_ = 0;
  }
  // If the program's version has the function.
  template <class Handler>
  void put(unsigned place, Handler* handler) const {
    if (place < size_ && slots_[place] != nullptr) *slots_[place] = reinterpret_cast<Function>(handler);
  }

 private:
  Function** slots_ = nullptr;
  unsigned size_ = 0;
};

bool listen(GetExportTable get_export_table) {
  const auto* callbacks = static_cast<const Callbacks*>(get_export_table(callbacks_table));
  if (!has_observer() || callbacks == nullptr || callbacks->struct_bytes < sizeof(Callbacks)) return false;
  const Table core_table(*callbacks, Module::core), core2_table(*callbacks, Module::core2);
  core_table.put(core::mark_ex, mark<EventAttributes>);
  core_table.put(core::mark_a, mark<char>);
  core_table.put(core::mark_w, mark<wchar_t>);
  core_table.put(core::start_ex, start<EventAttributes>);
  core_table.put(core::start_a, start<char>);
  core_table.put(core::start_w, start<wchar_t>);
  core_table.put(core::end, end);
  core_table.put(core::push_ex, push<EventAttributes>);
  core_table.put(core::push_a, push<char>);
  core_table.put(core::push_w, push<wchar_t>);
  core_table.put(core::pop, pop);
  core2_table.put(core2::mark_ex, mark_in);
  core2_table.put(core2::start_ex, start_in);
  core2_table.put(core2::end, end_in);
  core2_table.put(core2::push_ex, push_in);
  core2_table.put(core2::pop, nvtx::pop);
  core2_table.put(core2::register_a, register_text<char>);
  core2_table.put(core2::register_w, register_text<wchar_t>);
  core2_table.put(core2::create_a, create<char>);
  core2_table.put(core2::create_w, create<wchar_t>);
  return true;
}

}  // namespace
}  // namespace hbmscope::inject::nvtx

// 0: NVTX continues without us, and its calls do nothing.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    hbmscope::inject::nvtx::GetExportTable get_export_table) {
  return hbmscope::inject::nvtx::listen(get_export_table) ? 1 : 0;
}
