#include "app/gui/platform/imgui_host.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <implot.h>

#include <utility>
#include <vector>

#include "app/gui/platform/gl.h"
#include "third_party/fonts.h"

namespace hbmscope::gui {

namespace {

#ifdef __EMSCRIPTEN__
constexpr const char* shader_version = "#version 300 es";
#else
constexpr const char* shader_version = "#version 330 core";
#endif

ImFont* add_font(std::span<const unsigned char> bytes, bool merge = false) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;  // They are part of the program and read-only.
  config.MergeMode = merge;
  return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes.data()),
                                                    static_cast<int>(bytes.size()), 0.0F, &config);
}

// In the order that views expect: regular, bold, monospace. The merged ones are for glyphs that a font lacks.
void add_fonts() {
  add_font(font_ui());
  add_font(font_icons(), true);
  add_font(font_ui_bold());
  add_font(font_icons(), true);
  add_font(font_mono());
  add_font(font_ui(), true);
}

// OpenGL counts rows from the bottom.
void clear(const PixelBox& part, const ImDrawData& frame, const ImVec4& color) {
  const int height = static_cast<int>(frame.DisplaySize.y * frame.FramebufferScale.y + 0.5F);
  glEnable(GL_SCISSOR_TEST);
  glScissor(part.left, height - part.bottom, part.right - part.left, part.bottom - part.top);
  glClearColor(color.x, color.y, color.z, 1.0F);
  glClear(GL_COLOR_BUFFER_BIT);
  glDisable(GL_SCISSOR_TEST);
}

void update_textures(const ImDrawData& frame) {
  for (ImTextureData* texture : *frame.Textures)
    if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
}

// Draws this box of the frame by clipping the commands' rectangles temporarily. Commands before `after` are left out.
void draw_box(const PixelBox& box, const OpaquePicture* after, const ImDrawData& frame) {
  ImDrawData some = frame;
  some.CmdLists.resize(0);
  std::vector<ImVec4> clips;
  for (int i = 0; i < frame.CmdLists.Size; ++i) {
    ImDrawList* const list = frame.CmdLists[i];
    bool is_seen = false;
    for (int at = 0; at < list->CmdBuffer.Size; ++at) {
      ImDrawCmd& command = list->CmdBuffer[at];
      clips.push_back(command.ClipRect);
      const auto place = std::pair(static_cast<std::size_t>(i), at);
      const bool is_hidden = after != nullptr && place <= std::pair(after->list, after->command);
      const PixelBox shown = is_hidden ? PixelBox{} : common(box, clip_of(command, frame));
      is_seen = is_seen || (!shown.empty() && command.ElemCount > 0);
      command.ClipRect = shown.empty() ? ImVec4{} : clip_rect_of(shown, frame);
    }
    if (is_seen) some.CmdLists.push_back(list);
  }
  ImGui_ImplOpenGL3_RenderDrawData(&some);
  auto clip = clips.begin();
  for (ImDrawList* list : frame.CmdLists)
    for (ImDrawCmd& command : list->CmdBuffer) command.ClipRect = *clip++;
}

}  // namespace

Result<std::unique_ptr<ImGuiHost>> ImGuiHost::start(const GlWindow& window) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImPlot::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // See layout_file.h.
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable | ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigInputTextCursorBlink = false;  // A blinking cursor would never let the window sleep.
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  // Tests count the errors of views; ImGui's red box does not help a user.
  io.ConfigErrorRecoveryEnableTooltip = false;
  io.ConfigErrorRecoveryEnableDebugLog = false;
  add_fonts();

  // From here on the destructor cleans up.
  ImGui_ImplGlfw_InitForOpenGL(window.handle(), true);
  std::unique_ptr<ImGuiHost> host(new ImGuiHost);
  if (!ImGui_ImplOpenGL3_Init(shader_version)) {
    return Failure(Error{.what = "OpenGL's library could not be loaded for drawing",
                         .remedy = "On Debian and Ubuntu: apt install libgl1 libopengl0 libgl1-mesa-dri.",
                         .file = {},
                         .offset = {}});
  }
  return host;
}

ImGuiHost::~ImGuiHost() {
  if (ImGui::GetIO().BackendRendererUserData != nullptr) ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImPlot::DestroyContext();
  ImGui::DestroyContext();
}

void ImGuiHost::begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

std::uint64_t ImGuiHost::end_frame(const ImVec4& background) {
  ImGui::Render();
  const ImDrawData& frame = *ImGui::GetDrawData();
  const ImU32 color = ImGui::ColorConvertFloat4ToU32(background);
  if (std::exchange(background_, color) != color) changed_.forget();
  const std::vector<PixelBox> parts = changed_.find(frame);
  update_textures(frame);
  const std::vector<OpaquePicture> pictures = find_opaque_pictures(frame);
  std::uint64_t pixels = 0;
  for (const PixelBox& part : parts)
    for (const BoxToDraw& one : split_at_pictures(part, pictures)) {
      if (one.from != nullptr)
        copier_.copy(*one.from, one.box, frame);
      else
        clear(one.box, frame, background);
      draw_box(one.box, one.from, frame);
      pixels += one.box.pixels();
    }
  return pixels;
}

}  // namespace hbmscope::gui
