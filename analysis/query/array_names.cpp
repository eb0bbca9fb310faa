#include "analysis/query/array_names.h"

namespace hbmscope {

ArrayNames::ArrayNames(const Trace& trace) : trace_(trace), names_(trace.streams.size()) {
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Definitions& definitions = trace.streams[i].definitions();
    for (const Attribute& attribute : trace.streams[i].attributes().rows())
      if (definitions.text(attribute.key) == "array") names_[i][attribute.allocation] = attribute.value;
  }
}

std::string_view ArrayNames::find(std::size_t stream, std::uint64_t allocation) const {
  const auto found = names_[stream].find(allocation);
  return found == names_[stream].end() ? std::string_view() : trace_.streams[stream].definitions().text(found->second);
}

}  // namespace hbmscope
