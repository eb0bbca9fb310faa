#include "app/gui/look/map_texture.h"

#include <algorithm>
#include <cstring>

#include <imgui_internal.h>  // User textures have no public API yet.

namespace hbmscope::gui {
namespace {

// Larger than needed, so that dragging a border does not create a texture in every frame.
int with_room(int size) {
  return (size + 255) / 256 * 256;
}

std::vector<const ImTextureData*>& opaque_textures() {
  static std::vector<const ImTextureData*> textures;
  return textures;
}

void forget(ImTextureData& texture) {
  std::erase(opaque_textures(), &texture);
  ImGui::UnregisterUserTexture(&texture);
  ImGui::GetPlatformIO().Textures.find_erase(&texture);
}

}  // namespace

MapTexture::~MapTexture() {
  // The graphics API releases them together with its context.
  if (texture_) forget(*texture_);
  for (const auto& old : retired_) forget(*old);
}

void MapTexture::retire() {
  if (!texture_) return;
  if (texture_->Status == ImTextureStatus_WantCreate) {
    forget(*texture_);  // The renderer has not seen it.
    texture_.reset();
    return;
  }
  texture_->SetStatus(ImTextureStatus_WantDestroy);
  texture_->WantDestroyNextFrame = true;
  texture_->UnusedFrames = 1;
  retired_.push_back(std::move(texture_));
}

void MapTexture::drop_retired() {
  std::erase_if(retired_, [](const std::unique_ptr<ImTextureData>& old) {
    if (old->Status != ImTextureStatus_Destroyed) return false;
    forget(*old);
    return true;
  });
}

void MapTexture::set(const std::vector<Pixel>& pixels, int width, int height) {
  drop_retired();
  width_ = width;
  height_ = height;
  if (width == 0 || height == 0) return;
  if (!texture_ || texture_->Width < width || texture_->Height < height) {
    const int old_width = texture_ ? texture_->Width : 0, old_height = texture_ ? texture_->Height : 0;
    retire();
    texture_ = std::make_unique<ImTextureData>();
    texture_->Create(ImTextureFormat_RGBA32, std::max(old_width, with_room(width)),
                     std::max(old_height, with_room(height)));
    texture_->UseColors = true;
    ImGui::RegisterUserTexture(texture_.get());
    opaque_textures().push_back(texture_.get());
  }
  for (int y = 0; y < height; ++y)
    std::memcpy(texture_->GetPixelsAt(0, height - 1 - y), pixels.data() + static_cast<std::ptrdiff_t>(y) * width,
                static_cast<std::size_t>(width) * sizeof(Pixel));
  if (texture_->Status == ImTextureStatus_WantCreate) return;  // Then all of it will be uploaded.
  const auto size = [](int pixels_wide) { return static_cast<unsigned short>(pixels_wide); };
  const ImTextureRect all{0, 0, size(width), size(height)};
  texture_->Updates.resize(0);
  texture_->Updates.push_back(all);
  texture_->UpdateRect = texture_->UsedRect = all;
  texture_->SetStatus(ImTextureStatus_WantUpdates);
}

void MapTexture::draw(ImDrawList& draw, ImVec2 at) {
  this->draw(draw, at, {at.x + static_cast<float>(width_), at.y + static_cast<float>(height_)});
}

void MapTexture::draw(ImDrawList& draw, ImVec2 from, ImVec2 to) {
  if (!texture_ || width_ == 0 || height_ == 0) return;
  draw.AddImage(texture_->GetTexRef(), from, to,
                {0, static_cast<float>(height_) / static_cast<float>(texture_->Height)},
                {static_cast<float>(width_) / static_cast<float>(texture_->Width), 0});
}

bool is_opaque(const ImTextureData& texture) {
  const auto& all = opaque_textures();
  return std::find(all.begin(), all.end(), &texture) != all.end();
}

}  // namespace hbmscope::gui
