// Errors and events as PJRT hands them out. An execution here is over when the call returns, so events are ready at
// once, except those that the caller makes and sets itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "allocator/emulated/tpu/plugin/c_api.h"

namespace hbmscope::allocator::tpu::plugin {

struct Error {
  void* table = nullptr;
  ErrorCode code = ErrorCode::internal;
  std::string text;
};
// The caller of the plugin destroys it.
Error* make_error(ErrorCode code, std::string text);

struct Event {
  void* table = nullptr;
  std::mutex mutex;
  std::condition_variable is_set;
  bool is_ready = false;
  ErrorCode code = ErrorCode::none;
  std::string text;
  std::vector<OnReadyArguments> waiting;

  // Null if there is no error.
  Error* error() const { return code == ErrorCode::none ? nullptr : make_error(code, text); }
};
Event* make_ready_event();

Error* Error_Destroy(Command<Error>* given);
Error* Error_Message(TextQuery<Error>* given);
Error* Error_GetCode(Query<Error, int>* given);
Error* Error_ForEachPayload(Head* given);
Error* Event_Create(Command<Event>* given);
Error* Event_Set(SetEventArguments* given);
Error* Event_Destroy(Command<Event>* given);
Error* Event_IsReady(Query<Event, bool>* given);
Error* Event_Error(Command<Event>* given);
Error* Event_Await(Command<Event>* given);
Error* Event_OnReady(OnReadyArguments* given);

}  // namespace hbmscope::allocator::tpu::plugin
