// Private pools: memory of graphs, whose addresses must stay, and of MemPools.
#include <algorithm>

#include "allocator/reference/pytorch/caching_allocator.h"

namespace hbmscope::allocator::pytorch {

PrivatePool* CachingAllocator::find_pool(PoolId id) {
  const auto found = private_pools_.find(id);
  return found == private_pools_.end() ? nullptr : found->second.get();
}

bool CachingAllocator::create_pool(PoolId id) {
  PrivatePool* pool = find_pool(id);
  if (pool == nullptr) {
    private_pools_[id] = std::make_unique<PrivatePool>(id);
    return true;
  }
  if (pool->users == 0) return false;
  ++pool->users;
  return true;
}

bool CachingAllocator::begin_pool(PoolId id) {
  if (std::find(recording_.begin(), recording_.end(), id) != recording_.end() || !create_pool(id)) return false;
  recording_.push_back(id);
  return true;
}

bool CachingAllocator::end_pool(PoolId id) {
  const auto found = std::find(recording_.begin(), recording_.end(), id);
  if (found == recording_.end()) return false;
  recording_.erase(found);
  return true;
}

bool CachingAllocator::release_pool(PoolId id) {
  PrivatePool* pool = find_pool(id);
  if (pool == nullptr || pool->users == 0) return false;
  --pool->users;
  return true;
}

// Releases all private pools without users, or one.
void CachingAllocator::release_unused_pools(PoolId only) {
  std::vector<PoolId> unused;
  for (const auto& [id, pool] : private_pools_)
    if (pool->users == 0 && (only == default_pool || id == only)) unused.push_back(id);
  for (const PoolId id : unused) {
    PrivatePool& pool = *private_pools_[id];
    if (only != default_pool) free_blocks(pending_.wait_for_all(&pool));
    release_free(pool.small);
    release_free(pool.large);
    if (pool.segments == 0) erase_pool(id);
  }
}

void CachingAllocator::erase_pool(PoolId id) {
  const auto found = private_pools_.find(id);
  const bool has_addresses = std::any_of(segments_.begin(), segments_.end(), [&](const auto& segment) {
    return segment.second.lowest->pool->owner == found->second.get();
  });
  if (has_addresses) erased_pools_.push_back(std::move(found->second));
  private_pools_.erase(found);
}

}  // namespace hbmscope::allocator::pytorch
