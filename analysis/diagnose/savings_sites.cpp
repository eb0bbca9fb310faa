#include "analysis/diagnose/savings_sites.h"

#include <algorithm>
#include <utility>

#include "analysis/query/own_frame.h"
#include "analysis/query/trace_user_code.h"

namespace hbmscope {

SiteTable::SiteTable(const Stream& stream, SiteBy by) : definitions_(stream.definitions()), by_(by) {
  by_category_.fill(none);
  if (by == SiteBy::category) labels_.emplace(stream);
}

std::uint32_t SiteTable::number_of(const LiveBlock& block) {
  switch (by_) {
    case SiteBy::category: return number_of_category(labels_->category(block));
    case SiteBy::tag: return number_of_id(by_tag_, block.tag, &SiteTable::site_of_tag);
    case SiteBy::line:
    case SiteBy::function: break;
  }
  return number_of_id(by_stack_, block.stack, &SiteTable::site_of_stack);
}

std::uint32_t SiteTable::number_of(const PhysicalHandle& handle) {
  LiveBlock block;
  block.event = handle.event;
  block.size = handle.size;
  block.stack = handle.stack;
  return number_of(block);
}

std::uint32_t SiteTable::number_of_id(std::vector<std::uint32_t>& known, std::uint32_t id,
                                      Site (SiteTable::*site)(std::uint32_t) const) {
  // Undefined ids of a damaged stream may be anything; they don't get a place in the table.
  constexpr std::uint32_t id_max = 1U << 26;
  if (id > id_max) return number_of_site((this->*site)(id));
  if (id >= known.size()) known.resize(std::max<std::size_t>(id + std::size_t{1}, 2 * known.size()), none);
  if (known[id] == none) known[id] = number_of_site((this->*site)(id));
  return known[id];
}

std::uint32_t SiteTable::number_of_category(Category category) {
  std::uint32_t& number = by_category_[static_cast<std::size_t>(category)];
  if (number == none) {
    Site site;
    site.name = text_from_category(category);
    site.can_change = category != Category::unknown;
    number = number_of_site(std::move(site));
  }
  return number;
}

std::uint32_t SiteTable::number_of_site(Site site) {
  const auto [found, is_new] =
      numbers_.try_emplace({site.name, site.function, site.file, site.line}, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) sites_.push_back(std::move(site));
  return found->second;
}

Site SiteTable::site_of_stack(std::uint32_t stack) const {
  Site site;
  const auto frame = find_own_frame(definitions_, stack);
  if (!frame) {
    site.name = no_user_code_text(definitions_, stack);
    site.can_change = false;
    return site;
  }
  site.function = definitions_.text(frame->function);
  site.file = definitions_.text(frame->file);
  if (by_ == SiteBy::line) site.line = frame->line;
  return site;
}

Site SiteTable::site_of_tag(std::uint32_t tag) const {
  Site site;
  site.name = tag == 0 ? std::string_view() : definitions_.text(tag);
  if (!site.name.empty()) return site;
  site.name = "(untagged)";
  site.can_change = false;
  return site;
}

}  // namespace hbmscope
