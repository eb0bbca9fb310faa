// A workload's device: an allocator over addresses that have no memory behind them. It reports its pool, regions,
// blocks (each with the code that made it) and failures, and the workload's markers, to any process that attaches. For
// one thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator/emulated/workload/device.h"
#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/interface/virtual_addresses.h"
#include "collector/annotate/hbmscope.h"

namespace hbmscope::allocator {

class AnnotatedDevice final : public workload::Device, private Sink {
 public:
  // Options must be valid (catalog.h). XLA's pool has XLA's name: "GPU_0_bfc".
  AnnotatedDevice(const AllocatorOptions& options, const VirtualOptions& upstream);
  ~AnnotatedDevice() override;
  AnnotatedDevice(const AnnotatedDevice&) = delete;
  AnnotatedDevice& operator=(const AnnotatedDevice&) = delete;

  std::uint64_t allocate(std::uint64_t bytes, const workload::Site& site) override;
  void free(std::uint64_t address) noexcept override;
  void mark(const char* name, workload::Phase phase) override;
  void rest(double) override {}

 private:
  // A site in the form that collector/annotate reports it. It is never moved before the process ends, as that header
  // requires.
  struct Known {
    std::vector<hbmscope_frame> frames;
    hbmscope_stack stack{};
    hbmscope_text tag{};
    bool has_tag = false;
    hbmscope_text* tag_or_null() { return has_tag ? &tag : nullptr; }
  };
  struct Block {
    Known* by = nullptr;
    std::uint64_t bytes = 0, requested = 0;
    std::uint32_t flags = 0;  // hbmscope_block_flag
  };
  Known& known(const workload::Site& site);
  void enumerate(const hbmscope_listing& listing);
  void on_region_claimed(std::uint32_t number, const Claim& claim, std::uint64_t requested_bytes) override;
  void on_claim_refused(std::uint64_t requested_bytes) override;
  void on_region_released(std::uint32_t number, const Claim& claim) override;

  std::string name_;
  hbmscope_heap heap_{};
  std::optional<std::uint64_t> device_bytes_;
  VirtualAddresses upstream_;
  std::map<const workload::Site*, Known> sites_;
  std::map<const char*, hbmscope_text> marks_;
  std::map<std::uint64_t, Block> blocks_;  // By address.
  std::unique_ptr<Allocator> allocator_;   // Last: it gives its regions back while the heap is still there.
};

}  // namespace hbmscope::allocator
