#include "analysis/heap/address_space_builder.h"

namespace hbmscope {

AddressSpaceBuilder::AddressSpaceBuilder(AddressSpace& space, std::size_t blocks, std::size_t free_pieces)
    : space_(space) {
  space.tags_.reserve(space.tags_.size() + blocks + free_pieces);
  space.sizes_.reserve(free_pieces);
  gaps_.reserve(free_pieces);
  space.regions_.for_each([&](const OrderedAddresses::Entry& entry) { regions_.push_back(entry.value); });
}

// Its free chunk is taken out of the table of starts and goes back in as what is left of it.
void AddressSpaceBuilder::open_region() {
  rest_ = space_.tags_[regions_[at_]].next;
  cursor_ = space_.tags_[rest_].begin;
  last_ = space_.tags_[rest_].previous;
  space_.starts_.erase_at(space_.starts_.find(cursor_));
}

AddressSpace::TagIndex AddressSpaceBuilder::add_tag(AddressRange range, AddressSpace::Kind kind) {
  AddressSpace::TagIndex index = space_.unused_;
  if (index == AddressSpace::no_tag) {
    index = static_cast<AddressSpace::TagIndex>(space_.tags_.size());
    space_.tags_.push_back({range.begin, range.end, last_, rest_, 0, kind, Joining::never});
  } else {
    index = space_.new_tag(range, kind);
    space_.tags_[index].previous = last_;
  }
  space_.tags_[last_].next = index;
  last_ = index;
  return index;
}

void AddressSpaceBuilder::close_region() {
  if (rest_ != AddressSpace::no_tag) {
    AddressSpace::Tag& rest = space_.tags_[rest_];
    rest.previous = last_;
    space_.tags_[last_].next = rest_;
    if (cursor_ == rest.end) {
      space_.sizes_.remove(rest.place);
      space_.tags_[rest.previous].next = rest.next;
      space_.tags_[rest.next].previous = rest.previous;
      space_.recycle(rest_);
    } else {
      rest.begin = cursor_;
      space_.sizes_.set(rest.place, rest.end - cursor_);
      space_.starts_.insert(cursor_, rest_);
    }
    rest_ = AddressSpace::no_tag;
  }
  ++at_;
}

BlockIndex AddressSpaceBuilder::append(std::uint64_t address, std::uint64_t size) {
  while (at_ < regions_.size() && space_.tags_[regions_[at_]].end <= address) close_region();
  if (at_ == regions_.size() || size - 1 >= AddressSpace::bytes_max - space_.in_use_bytes_)
    return space_.take_loose(address, size);
  if (rest_ == AddressSpace::no_tag) open_region();
  if (address < cursor_ || size > space_.tags_[rest_].end - address) return space_.take_loose(address, size);
  using Kind = AddressSpace::Kind;
  if (cursor_ < address) {
    const AddressSpace::TagIndex gap = add_tag({cursor_, address}, Kind::free);
    space_.tags_[gap].place = space_.sizes_.add(address - cursor_);
    gaps_.emplace_back(cursor_, gap);
  }
  cursor_ = address + size;
  const AddressSpace::TagIndex block = add_tag({address, cursor_}, Kind::block);
  space_.free_bytes_ -= size;
  space_.in_use_bytes_ += size;
  ++space_.blocks_;
  return BlockIndex{block};
}

void AddressSpaceBuilder::finish() {
  while (at_ < regions_.size()) close_region();
  space_.starts_.insert_all(gaps_);
  gaps_.clear();
}

}  // namespace hbmscope
