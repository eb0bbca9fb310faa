// What is at an address of a trace, its neighbours, and everything that was there from the first event to the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/block_history.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"

namespace hbmscope {

// A heap with something at the address; there can be several, in different layers.
struct FoundAt {
  std::uint32_t stream = 0, heap = 0;
  PlaceAt place;
  AddressHistory history;
};
std::vector<FoundAt> find_at_address(const Trace& trace, const std::vector<StreamState>& states, std::uint64_t address,
                                     PassControl* control = nullptr);

struct AddressRequest {
  std::uint64_t address = 0;
  std::size_t history_rows = 20;  // The newest so many; 0: all.
};
// With the key "found".
Documents describe_address(const Trace& trace, const std::vector<StreamState>& states, const Moment& moment,
                           const std::vector<FoundAt>& found, const AddressRequest& request);

}  // namespace hbmscope
