// Part of every program with a window in builds with AddressSanitizer, and of no others.
//
// OpenGL drivers keep memory until the process ends and are unloaded before the leak check, which then can't tell
// whose memory it was. So they stay loaded, and what their modules allocated is left out of the check.
extern "C" {

const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  return "leak:libEGL_mesa\n"
         "leak:libGLX_mesa\n"
         "leak:libGLdispatch\n"
         "leak:libEGL_nvidia\n"
         "leak:libgallium\n"
         "leak:_dri.so\n"
         "leak:libLLVM\n"
         "leak:libdrm\n";
}

int dlclose(void* handle);
int dlclose(void* /*handle*/) {
  return 0;
}

}  // extern "C"
