// libcudnn 9: versions, handles, descriptors. Its graph API offers one engine for each operation, which needs no
// workspace; the real library's engines may need one.
#include "allocator/emulated/cuda/libraries/common.h"
#include "allocator/emulated/cuda/model/settings.h"

using namespace hbmscope::device::libraries;
using hbmscope::device::settings;

namespace {

// cudnnBackendAttributeType_t: the size of one element.
std::size_t bytes_of_type(int type) {
  switch (type) {
    case 2:
    case 24: return 1;  // BOOLEAN, CHAR
    case 0:
    case 3:
    case 5:
    case 6:
    case 26: return 8;  // HANDLE, INT64, DOUBLE, VOID_PTR, FRACTION
    default: return 4;  // FLOAT, INT32, enumerations
  }
}
constexpr int backend_descriptor_type = 15;
constexpr int heuristic_results = 202;  // CUDNN_ATTR_ENGINEHEUR_RESULTS

}  // namespace

HBMSCOPE_EXPORTED std::size_t cudnnGetVersion() {
  return static_cast<std::size_t>(settings().cudnn_version);
}
HBMSCOPE_EXPORTED std::size_t cudnnGetMaxDeviceVersion() {
  return 0;
}
HBMSCOPE_EXPORTED std::size_t cudnnGetCudartVersion() {
  return 12090;
}
HBMSCOPE_EXPORTED Status cudnnGetProperty(int which, int* value) {
  const int version = settings().cudnn_version;
  return write_property(which, version / 10000, version / 100 % 100, version % 100, value);
}
HBMSCOPE_EXPORTED Status cudnnCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cudnnDestroy(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED Status cudnnSetStream(Handle handle, Handle stream) {
  settings_of(handle).stream = stream;
  return success;
}
HBMSCOPE_EXPORTED Status cudnnGetStream(Handle handle, Handle* stream) {
  *stream = settings_of(handle).stream;
  return success;
}
HBMSCOPE_EXPORTED const char* cudnnGetErrorString(Status status) {
  return status == success ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_NOT_SUPPORTED";
}
HBMSCOPE_EXPORTED void cudnnGetLastErrorString(char* text, std::size_t bytes) {
  if (bytes > 0) *text = 0;
}

#define DESCRIPTOR(create_name, destroy_name)                \
  HBMSCOPE_EXPORTED Status create_name(Handle* out) {        \
    return create(out);                                      \
  }                                                          \
  HBMSCOPE_EXPORTED Status destroy_name(Handle descriptor) { \
    return destroy(descriptor);                              \
  }
DESCRIPTOR(cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor)
DESCRIPTOR(cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor)
DESCRIPTOR(cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor)
DESCRIPTOR(cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor)
DESCRIPTOR(cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor)
DESCRIPTOR(cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor)
DESCRIPTOR(cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor)
DESCRIPTOR(cudnnCreateSpatialTransformerDescriptor, cudnnDestroySpatialTransformerDescriptor)
DESCRIPTOR(cudnnCreateCTCLossDescriptor, cudnnDestroyCTCLossDescriptor)
DESCRIPTOR(cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor)
DESCRIPTOR(cudnnCreateLRNDescriptor, cudnnDestroyLRNDescriptor)
DESCRIPTOR(cudnnCreateReduceTensorDescriptor, cudnnDestroyReduceTensorDescriptor)
DESCRIPTOR(cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor)

HBMSCOPE_EXPORTED Status cudnnBackendCreateDescriptor(int, Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cudnnBackendDestroyDescriptor(Handle descriptor) {
  return destroy(descriptor);
}
HBMSCOPE_EXPORTED Status cudnnBackendGetAttribute(Handle, int name, int type, std::int64_t requested,
                                                  std::int64_t* count, void* elements) {
  const bool is_list_of_engines = name == heuristic_results;
  if (count != nullptr) *count = requested > 0 || is_list_of_engines ? 1 : 0;
  // A list of descriptors is filled in place: its elements are the caller's.
  if (elements != nullptr && requested > 0 && type != backend_descriptor_type)
    std::memset(elements, 0, bytes_of_type(type));
  return success;
}

// Workspaces: none.
HBMSCOPE_EXPORTED Status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(Handle, int, int, Handle, Handle,
                                                                                  Handle, Handle, Handle,
                                                                                  std::size_t* bytes) {
  *bytes = 0;
  return success;
}
HBMSCOPE_EXPORTED Status cudnnGetBatchNormalizationBackwardExWorkspaceSize(Handle, int, int, Handle, Handle, Handle,
                                                                           Handle, Handle, Handle, Handle,
                                                                           std::size_t* bytes) {
  *bytes = 0;
  return success;
}
HBMSCOPE_EXPORTED Status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(Handle, int, int, Handle, Handle,
                                                                              std::size_t* bytes) {
  *bytes = 0;
  return success;
}
HBMSCOPE_EXPORTED Status cudnnDropoutGetStatesSize(Handle, std::size_t* bytes) {
  *bytes = 0;
  return success;
}
