#include "allocator/emulated/tpu/plugin/errors.h"

#include <utility>

namespace hbmscope::allocator::tpu::plugin {

Error* make_error(ErrorCode code, std::string text) {
  return new Error{nullptr, code, std::move(text)};
}

Event* make_ready_event() {
  auto* event = new Event;
  event->is_ready = true;
  return event;
}

Error* Error_Destroy(Command<Error>* given) {
  delete given->object;
  return nullptr;
}

Error* Error_Message(TextQuery<Error>* given) {
  given->text = given->object->text.data();
  given->bytes = given->object->text.size();
  return nullptr;
}

Error* Error_GetCode(Query<Error, int>* given) {
  given->value = static_cast<int>(given->object->code);
  return nullptr;
}

Error* Error_ForEachPayload(Head*) {
  return nullptr;  // There are none.
}

Error* Event_Create(Command<Event>* given) {
  given->object = new Event;
  return nullptr;
}

// Once the lock is released, whoever waited may destroy the event.
Error* Event_Set(SetEventArguments* given) {
  Event& event = *given->event;
  const auto code = static_cast<ErrorCode>(given->code);
  const std::string text = given->message != nullptr ? std::string(given->message, given->message_bytes) : "";
  std::vector<OnReadyArguments> waiting;
  {
    const std::lock_guard lock(event.mutex);
    event.code = code;
    event.text = text;
    event.is_ready = true;
    waiting = std::exchange(event.waiting, {});
    event.is_set.notify_all();
  }
  for (const OnReadyArguments& one : waiting)
    one.callback(code == ErrorCode::none ? nullptr : make_error(code, text), one.user);
  return nullptr;
}

Error* Event_Destroy(Command<Event>* given) {
  delete given->object;
  return nullptr;
}

Error* Event_IsReady(Query<Event, bool>* given) {
  const std::lock_guard lock(given->object->mutex);
  given->value = given->object->is_ready;
  return nullptr;
}

Error* Event_Error(Command<Event>* given) {
  const std::lock_guard lock(given->object->mutex);
  return given->object->error();
}

Error* Event_Await(Command<Event>* given) {
  Event& event = *given->object;
  std::unique_lock lock(event.mutex);
  event.is_set.wait(lock, [&] { return event.is_ready; });
  return event.error();
}

Error* Event_OnReady(OnReadyArguments* given) {
  Event& event = *given->event;
  {
    const std::lock_guard lock(event.mutex);
    if (!event.is_ready) {
      event.waiting.push_back(*given);
      return nullptr;
    }
  }
  given->callback(event.error(), given->user);
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
