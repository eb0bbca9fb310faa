// In place of injector.cpp on machines for which there is no injected code.
#include "collector/attach/injector.h"

namespace hbmscope::attach {

std::optional<Refusal> inject(const Injection&) {
  return refusal_of_other_machines();
}

}  // namespace hbmscope::attach
