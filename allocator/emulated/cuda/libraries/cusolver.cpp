// libcusolver: handles and versions, and the factorisations that frameworks use, which need no workspace here; the real
// ones do. Other functions that size a workspace are not emulated.
#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

HBMSCOPE_EXPORTED Status cusolverGetVersion(int* version) {
  *version = HBMSCOPE_CUDA_MAJOR == 12 ? 11705 : 12000;
  return success;
}
HBMSCOPE_EXPORTED Status cusolverGetProperty(int which, int* value) {
  return write_property(which, HBMSCOPE_CUDA_MAJOR - 1, HBMSCOPE_CUDA_MAJOR == 12 ? 7 : 0, 5, value);
}
HBMSCOPE_EXPORTED Status cusolverDnCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroy(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED Status cusolverSpCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverSpDestroy(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED Status cusolverDnCreateParams(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroyParams(Handle parameters) {
  return destroy(parameters);
}
HBMSCOPE_EXPORTED Status cusolverDnCreateSyevjInfo(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroySyevjInfo(Handle info) {
  return destroy(info);
}
HBMSCOPE_EXPORTED Status cusolverDnCreateGesvdjInfo(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroyGesvdjInfo(Handle info) {
  return destroy(info);
}

// NAME_bufferSize of the four types, whose last parameter is the number of elements.
#define SIZES(name, parameters)                           \
  HBMSCOPE_EXPORTED Status name##_bufferSize parameters { \
    *elements = 0;                                        \
    return success;                                       \
  }
#define SIZES_OF_TYPES(routine, parameters) \
  SIZES(cusolverDnS##routine, parameters)   \
  SIZES(cusolverDnD##routine, parameters)   \
  SIZES(cusolverDnC##routine, parameters)   \
  SIZES(cusolverDnZ##routine, parameters)
#define SIZES_OF_REAL_AND_COMPLEX(real, complex, parameters) \
  SIZES(cusolverDnS##real, parameters)                       \
  SIZES(cusolverDnD##real, parameters)                       \
  SIZES(cusolverDnC##complex, parameters)                    \
  SIZES(cusolverDnZ##complex, parameters)
SIZES_OF_TYPES(potrf, (Handle, int, int, void*, int, int* elements))
SIZES_OF_TYPES(potri, (Handle, int, int, void*, int, int* elements))
SIZES_OF_TYPES(getrf, (Handle, int, int, void*, int, int* elements))
SIZES_OF_TYPES(geqrf, (Handle, int, int, void*, int, int* elements))
SIZES_OF_TYPES(sytrf, (Handle, int, void*, int, int* elements))
SIZES_OF_TYPES(gesvd, (Handle, int, int, int* elements))
SIZES_OF_TYPES(gesvdj, (Handle, int, int, int, int, const void*, int, const void*, const void*, int, const void*, int,
                        int* elements, void*))
SIZES_OF_TYPES(gesvdjBatched, (Handle, int, int, int, const void*, int, const void*, const void*, int, const void*, int,
                               int* elements, void*, int))
SIZES_OF_TYPES(gesvdaStridedBatched, (Handle, int, int, int, int, const void*, int, long long, const void*, long long,
                                      const void*, int, long long, const void*, int, long long, int* elements, int))
SIZES_OF_REAL_AND_COMPLEX(orgqr, ungqr, (Handle, int, int, int, const void*, int, const void*, int* elements))
SIZES_OF_REAL_AND_COMPLEX(ormqr, unmqr,
                          (Handle, int, int, int, int, int, const void*, int, const void*, const void*, int,
                           int* elements))
SIZES_OF_REAL_AND_COMPLEX(syevd, heevd, (Handle, int, int, int, const void*, int, const void*, int* elements))
SIZES_OF_REAL_AND_COMPLEX(syevj, heevj, (Handle, int, int, int, const void*, int, const void*, int* elements, void*))
SIZES_OF_REAL_AND_COMPLEX(syevjBatched, heevjBatched,
                          (Handle, int, int, int, const void*, int, const void*, int* elements, void*, int))
SIZES_OF_REAL_AND_COMPLEX(sytrd, hetrd,
                          (Handle, int, int, const void*, int, const void*, const void*, const void*, int* elements))

// The 64-bit interface: two sizes in bytes, on the device and on the host.
#define SIZES_64(name, ...)                                                                         \
  HBMSCOPE_EXPORTED Status name##_bufferSize(__VA_ARGS__, std::size_t* device, std::size_t* host) { \
    *device = *host = 0;                                                                            \
    return success;                                                                                 \
  }
SIZES_64(cusolverDnXpotrf, Handle, Handle, int, std::int64_t, int, const void*, std::int64_t, int)
SIZES_64(cusolverDnXgetrf, Handle, Handle, std::int64_t, std::int64_t, int, const void*, std::int64_t, int)
SIZES_64(cusolverDnXgeqrf, Handle, Handle, std::int64_t, std::int64_t, int, const void*, std::int64_t, int, const void*,
         int)
SIZES_64(cusolverDnXsyevd, Handle, Handle, int, int, std::int64_t, int, const void*, std::int64_t, int, const void*,
         int)
SIZES_64(cusolverDnXgeev, Handle, Handle, int, int, std::int64_t, int, const void*, std::int64_t, int, const void*, int,
         const void*, std::int64_t, int, const void*, std::int64_t, int)
HBMSCOPE_EXPORTED Status cusolverDnXsyevBatched_bufferSize(Handle, Handle, int, int, std::int64_t, int, const void*,
                                                           std::int64_t, int, const void*, int, std::size_t* device,
                                                           std::size_t* host, std::int64_t) {
  *device = *host = 0;
  return success;
}
