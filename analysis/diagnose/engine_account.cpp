#include "analysis/diagnose/engine_account.h"

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"

namespace hbmscope {

std::optional<std::int64_t> EngineAccount::left_bytes() const {
  if (free_after_bytes) return signed_from(*free_after_bytes);
  const auto there = free_before_bytes ? free_before_bytes : device_bytes;
  return there ? std::optional(signed_from(*there) - signed_from(bytes)) : std::nullopt;
}

EngineAccount find_engine_account(const Stream& stream, const HeapInfo& heap, const StreamState& state,
                                  std::uint64_t position) {
  EngineAccount account{.name = heap.name};
  for (const LiveBlock& block : state.slots()) {
    if (block.heap != heap.id) continue;
    const std::string_view part = stream.definitions().text(block.tag);
    account.bytes = clamped_sum(account.bytes, block.size);
    if (part == "model" || part == "weights") account.weights_bytes = block.size;
    if (part == "KV cache") account.cache_bytes = block.size;
  }
  const auto said = [&](std::string_view name) { return find_reported(stream, name, heap.id, position); };
  account.device_bytes = said(reported_figure::device);
  account.limit_bytes = said(reported_figure::limit);
  account.free_before_bytes = said(reported_figure::free_before);
  account.free_after_bytes = said(reported_figure::free_after);
  account.layers_on_gpu = said(reported_figure::layers_on_gpu);
  account.layers = said(reported_figure::layers);
  account.context_tokens = said(reported_figure::context_tokens);
  return account;
}

std::vector<EngineAccount> find_engine_accounts(const Stream& stream, std::uint64_t position) {
  std::vector<EngineAccount> accounts;
  std::optional<StreamState> state;
  for (const HeapInfo& heap : stream.definitions().heaps()) {
    if (heap.id == 0 || heap.layer != wire::Layer::program) continue;
    if (!state) state = stream.state_at(position);
    accounts.push_back(find_engine_account(stream, heap, *state, position));
  }
  return accounts;
}

std::string text_from_account(const EngineAccount& account) {
  std::string text = text_from_bytes(account.bytes);
  if (!account.free_after_bytes && account.free_before_bytes)
    text += fmt::format(" of the {} that was free", text_from_bytes(*account.free_before_bytes));
  else if (!account.free_after_bytes && account.device_bytes)
    text += fmt::format(" of the device's {}", text_from_bytes(*account.device_bytes));
  const auto left = account.left_bytes();
  if (!left) return text;
  return *left >= 0 ? fmt::format("{}, {} is left", text, text_from_bytes(*left))
                    : fmt::format("{}, {} too much", text, text_from_bytes(-*left));
}

}  // namespace hbmscope
