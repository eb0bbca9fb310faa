// XLA's allocator over addresses without memory, as a workload's device, announced to whoever listens: its pool, its
// regions, its blocks with the code that made them, its failures and the workload's marks. One thread uses it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator/upstream/virtual_addresses.h"
#include "allocator/workload/device.h"
#include "allocator/xla_gpu/bfc.h"
#include "collector/annotate/hbmscope.h"

namespace hbmscope::allocator {

class AnnotatedDevice final : public workload::Device, private xla_gpu::Sink {
 public:
  // `name` as XLA names the pool: "GPU_0_bfc".
  AnnotatedDevice(std::string name, const xla_gpu::Options& options, const VirtualOptions& upstream);
  ~AnnotatedDevice() override;
  AnnotatedDevice(const AnnotatedDevice&) = delete;
  AnnotatedDevice& operator=(const AnnotatedDevice&) = delete;

  std::uint64_t allocate(std::uint64_t bytes, const workload::Site& site) override;
  void free(std::uint64_t address) noexcept override;
  void mark(const char* name, workload::Phase phase) override;
  void rest(double) override {}
  const xla_gpu::Bfc& allocator() const { return allocator_; }

 private:
  // A site as the listener knows it. Stays where it is until the process ends, as the header asks for.
  struct Known {
    std::vector<hbmscope_frame> frames;
    hbmscope_stack stack{};
    hbmscope_text tag{};
    bool has_tag = false;
  };
  Known& known(const workload::Site& site);
  void enumerate(const hbmscope_listing& listing);
  void on_region_claimed(std::uint32_t number, const Claim& claim, std::uint64_t asked_bytes) override;
  void on_claim_refused(std::uint64_t asked_bytes) override;
  void on_region_released(std::uint32_t number, const Claim& claim) override;

  std::string name_;
  hbmscope_heap heap_{};
  std::optional<std::uint64_t> device_bytes_;
  VirtualAddresses upstream_;
  std::map<const workload::Site*, Known> sites_;
  std::map<const char*, hbmscope_text> marks_;
  std::map<std::uint64_t, Known*> blocks_;  // Who made the block at an address.
  xla_gpu::Bfc allocator_;                  // Last: it gives its regions back while the heap is still there.
};

}  // namespace hbmscope::allocator
